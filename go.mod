module github.com/gotile/gotile

go 1.26.0

require (
	github.com/dave/jennifer v1.7.1
	github.com/ebitengine/purego v0.11.3
	github.com/google/go-cmp v0.7.0
	pgregory.net/rapid v1.3.0
)
