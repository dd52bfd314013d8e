package archive

import (
	"encoding/binary"
	"errors"
)

var errLZMA = errors.New("xz: the compressed data is damaged")

const (
	lzmaStates     = 12
	lzmaPosStates  = 1 << 4
	lzmaDistances  = 1 + 128 - 14 // probabilities of the distances with slots 4 to 13
	lzmaLiteral    = 0x300
	probabilityBit = 11
	initial        = 1 << (probabilityBit - 1)
)

// probability is that of a bit to be 0, in 2048ths.
type probability uint16

// lzma decodes what is in the chunks of LZMA2 (LZMA specification of the LZMA SDK: lzma-specification.txt). Its dictionary is a
// ring.
type lzma struct {
	dict  []byte
	at    int // where the next byte goes
	total int // bytes since the dictionary was reset

	// the range coder, and what is left of the chunk that it reads
	in           []byte
	size, code   uint32
	lc, lp, pb   int
	state        int
	rep          [4]uint32
	isMatch      [lzmaStates * lzmaPosStates]probability
	isRep        [lzmaStates]probability
	isRepG0      [lzmaStates]probability
	isRepG1      [lzmaStates]probability
	isRepG2      [lzmaStates]probability
	isRep0Long   [lzmaStates * lzmaPosStates]probability
	slots        [4][64]probability
	distances    [lzmaDistances]probability
	align        [16]probability
	length, reps lengths
	literals     []probability
}

// lengths decode the length of a match.
type lengths struct {
	choice, second probability
	low, middle    [lzmaPosStates][8]probability
	high           [256]probability
}

// properties sets how literals depend on what is before them, and everything follows.
func (l *lzma) properties(b byte) error {
	if b >= 9*5*5 {
		return errLZMA
	}
	l.lc, l.lp, l.pb = int(b)%9, int(b)/9%5, int(b)/45
	if l.lc+l.lp > 4 { // LZMA2's limit
		return errLZMA
	}
	l.literals = make([]probability, lzmaLiteral<<(l.lc+l.lp))
	return nil
}

// reset is the decoder's state at the beginning.
func (l *lzma) reset() {
	l.state, l.rep = 0, [4]uint32{}
	for _, list := range [][]probability{
		l.isMatch[:], l.isRep[:], l.isRepG0[:], l.isRepG1[:], l.isRepG2[:], l.isRep0Long[:], l.distances[:], l.align[:], l.literals,
		l.slots[0][:], l.slots[1][:], l.slots[2][:], l.slots[3][:],
	} {
		fill(list)
	}
	for _, n := range []*lengths{&l.length, &l.reps} {
		n.choice, n.second = initial, initial
		fill(n.high[:])
		for i := range n.low {
			fill(n.low[i][:])
			fill(n.middle[i][:])
		}
	}
}

func fill(list []probability) {
	for i := range list {
		list[i] = initial
	}
}

// put adds a byte to the dictionary.
func (l *lzma) put(b byte) {
	l.dict[l.at] = b
	if l.at++; l.at == len(l.dict) {
		l.at = 0
	}
	l.total++
}

// back is the byte at a distance, of which 0 is the last one.
func (l *lzma) back(distance uint32) byte {
	i := l.at - 1 - int(distance)
	if i < 0 {
		i += len(l.dict)
	}
	return l.dict[i]
}

// reaches reports whether the dictionary goes back so far.
func (l *lzma) reaches(distance uint32) bool {
	return int64(distance) < int64(min(l.total, len(l.dict)))
}

// chunk decodes a chunk, which comes to n bytes, and appends them.
func (l *lzma) chunk(in, out []byte, n int) ([]byte, error) {
	if len(in) < 5 || in[0] != 0 {
		return nil, errLZMA
	}
	l.size, l.code, l.in = 0xffffffff, binary.BigEndian.Uint32(in[1:]), in[5:]
	end := len(out) + n
	for len(out) < end {
		posState := l.total & (1<<l.pb - 1)
		if l.bit(&l.isMatch[l.state<<4+posState]) == 0 {
			b := l.literal()
			l.put(b)
			out = append(out, b)
			continue
		}
		length, err := l.match(posState)
		if err != nil || length > end-len(out) || !l.reaches(l.rep[0]) {
			return nil, errLZMA
		}
		for range length {
			b := l.back(l.rep[0])
			l.put(b)
			out = append(out, b)
		}
	}
	if l.code != 0 || len(l.in) != 0 {
		return nil, errLZMA
	}
	return out, nil
}

// literal decodes a byte.
func (l *lzma) literal() byte {
	var before byte
	if l.total > 0 {
		before = l.back(0)
	}
	at := (l.total&(1<<l.lp-1))<<l.lc + int(before)>>(8-l.lc)
	probs := l.literals[lzmaLiteral*at : lzmaLiteral*(at+1)]
	symbol := uint32(1)
	if l.state >= 7 && l.reaches(l.rep[0]) {
		matched := uint32(l.back(l.rep[0]))
		for symbol < 0x100 {
			expected := matched >> 7 & 1
			matched <<= 1
			bit := l.bit(&probs[(1+expected)<<8+symbol])
			symbol = symbol<<1 | bit
			if bit != expected {
				break
			}
		}
	}
	for symbol < 0x100 {
		symbol = symbol<<1 | l.bit(&probs[symbol])
	}
	switch {
	case l.state < 4:
		l.state = 0
	case l.state < 10:
		l.state -= 3
	default:
		l.state -= 6
	}
	return byte(symbol)
}

// match decodes what a match is: its distance, which is the first of rep then, and its length.
func (l *lzma) match(posState int) (length int, err error) {
	after := func(literal, other int) int {
		if l.state < 7 {
			return literal
		}
		return other
	}
	if l.bit(&l.isRep[l.state]) == 0 {
		l.rep[3], l.rep[2], l.rep[1] = l.rep[2], l.rep[1], l.rep[0]
		length = l.length.decode(l, posState)
		l.state = after(7, 10)
		l.rep[0] = l.distance(length)
		return length + 2, nil
	}
	if l.total == 0 {
		return 0, errLZMA
	}
	if l.bit(&l.isRepG0[l.state]) == 0 {
		if l.bit(&l.isRep0Long[l.state<<4+posState]) == 0 {
			l.state = after(9, 11)
			return 1, nil
		}
	} else {
		i := 1
		if l.bit(&l.isRepG1[l.state]) != 0 {
			i = 2 + int(l.bit(&l.isRepG2[l.state]))
		}
		distance := l.rep[i]
		copy(l.rep[1:i+1], l.rep[:i])
		l.rep[0] = distance
	}
	length = l.reps.decode(l, posState)
	l.state = after(8, 11)
	return length + 2, nil
}

func (n *lengths) decode(l *lzma, posState int) int {
	if l.bit(&n.choice) == 0 {
		return int(l.tree(n.low[posState][:], 3))
	}
	if l.bit(&n.second) == 0 {
		return 8 + int(l.tree(n.middle[posState][:], 3))
	}
	return 16 + int(l.tree(n.high[:], 8))
}

// distance decodes that of a match whose length, less 2, is known.
func (l *lzma) distance(length int) uint32 {
	slot := l.tree(l.slots[min(length, 3)][:], 6)
	if slot < 4 {
		return slot
	}
	bits := slot>>1 - 1
	base := (2 | slot&1) << bits
	if slot < 14 {
		return base + l.reverse(l.distances[base-slot:], bits)
	}
	var direct uint32
	for range bits - 4 {
		l.size >>= 1
		l.code -= l.size
		borrowed := -(l.code >> 31)
		l.code += l.size & borrowed
		l.next()
		direct = direct<<1 + borrowed + 1
	}
	return base + direct<<4 + l.reverse(l.align[:], 4)
}

// tree decodes a number of bits, the highest first.
func (l *lzma) tree(probs []probability, bits int) uint32 {
	m := uint32(1)
	for range bits {
		m = m<<1 | l.bit(&probs[m])
	}
	return m - 1<<bits
}

// reverse decodes a number of bits, the lowest first.
func (l *lzma) reverse(probs []probability, bits uint32) (n uint32) {
	m := uint32(1)
	for i := range bits {
		bit := l.bit(&probs[m])
		m = m<<1 | bit
		n |= bit << i
	}
	return n
}

// bit decodes a bit.
func (l *lzma) bit(p *probability) (bit uint32) {
	bound := l.size >> probabilityBit * uint32(*p)
	if l.code < bound {
		l.size = bound
		*p += (1<<probabilityBit - *p) >> 5
	} else {
		l.size -= bound
		l.code -= bound
		*p -= *p >> 5
		bit = 1
	}
	l.next()
	return bit
}

// next reads more of the chunk where the range has become small. What is read beyond its end is 0: the code is not, then, when
// all is decoded, or the chunk is longer than that.
func (l *lzma) next() {
	if l.size >= 1<<24 {
		return
	}
	l.size <<= 8
	l.code <<= 8
	if len(l.in) > 0 {
		l.code |= uint32(l.in[0])
		l.in = l.in[1:]
	}
}
