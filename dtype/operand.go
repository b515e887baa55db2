package dtype

// Operand marks a host number as an operand of tile ops on its own type (tile.Operand), so that x.Mul(tile.F32(2))
// compiles for an f32 tile x and for no other.
func (Float32) Operand(Float32)   {}
func (BFloat16) Operand(BFloat16) {}
func (Float16) Operand(Float16)   {}
func (Int32) Operand(Int32)       {}
func (Uint32) Operand(Uint32)     {}
func (Int64) Operand(Int64)       {}
func (Boolean) Operand(Boolean)   {}
