package dtype

// Operand marks a host number as an operand of tile ops on its own type (tile.Operand), so that x.Mul(tile.F32(2))
// compiles for an f32 tile x and for no other.
func (Float32) Operand(Float32) {}

// Operand marks an operand of bf16 tiles, as Float32.Operand does of f32 tiles.
func (BFloat16) Operand(BFloat16) {}

// Operand marks an operand of f16 tiles, as Float32.Operand does of f32 tiles.
func (Float16) Operand(Float16) {}

// Operand marks an operand of i32 tiles, as Float32.Operand does of f32 tiles.
func (Int32) Operand(Int32) {}

// Operand marks an operand of u32 tiles, as Float32.Operand does of f32 tiles.
func (Uint32) Operand(Uint32) {}

// Operand marks an operand of i64 tiles, as Float32.Operand does of f32 tiles.
func (Int64) Operand(Int64) {}

// Operand marks an operand of e4m3 tiles, as Float32.Operand does of f32 tiles.
func (Float8E4M3) Operand(Float8E4M3) {}

// Operand marks an operand of e5m2 tiles, as Float32.Operand does of f32 tiles.
func (Float8E5M2) Operand(Float8E5M2) {}

// Operand marks an operand of i8 tiles, as Float32.Operand does of f32 tiles.
func (Int8) Operand(Int8) {}

// Operand marks an operand of predicates, as Float32.Operand does of f32 tiles.
func (Boolean) Operand(Boolean) {}
