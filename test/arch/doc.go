// Package arch holds the rules of the house as tests: who may import whom, how large a file or a
// function may be, which names and words do not appear. It has no code of its own.
package arch
