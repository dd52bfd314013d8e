package localdns

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"golang.org/x/net/dns/dnsmessage"
)

const (
	// answerBytes is what an answer may have that comes by UDP, so that it is in no fragment (RFC 6891, 6.2.5; DNS flag
	// day 2020).
	answerBytes = 1232
	// maxAddresses bounds how many addresses of a name are kept.
	maxAddresses = 32
)

// question is the question for the addresses of a name; false if the text is no name.
func question(name string, kind dnsmessage.Type) (dnsmessage.Question, bool) {
	full, err := dnsmessage.NewName(strings.TrimSuffix(name, ".") + ".")
	return dnsmessage.Question{Name: full, Type: kind, Class: dnsmessage.ClassINET}, err == nil && full.Length > 1
}

// query is a question for the addresses of a name. The caller sets its ID, the first two bytes. nil is for a text that is no name.
func query(name string, kind dnsmessage.Type) []byte {
	asked, ok := question(name, kind)
	if !ok {
		return nil
	}
	var size dnsmessage.ResourceHeader
	if err := size.SetEDNS0(answerBytes, dnsmessage.RCodeSuccess, false); err != nil {
		return nil
	}
	message := dnsmessage.Message{
		Header: dnsmessage.Header{RecursionDesired: true}, Questions: []dnsmessage.Question{asked},
		Additionals: []dnsmessage.Resource{{Header: size, Body: &dnsmessage.OPTResource{}}},
	}
	packed, err := message.Pack()
	if err != nil {
		return nil // a label that is empty, or too long
	}
	return packed
}

// answer is what there is to know of an answer.
type answer struct {
	code      dnsmessage.RCode
	addresses []string
}

// parseAnswer reads the answer to the question for a name. Its addresses are of the type that was asked for: of the name, or of the
// name that this one stands for.
func parseAnswer(name string, kind dnsmessage.Type, message []byte) (answer, error) {
	var p dnsmessage.Parser
	header, err := p.Start(message)
	if err != nil {
		return answer{}, fmt.Errorf("the answer cannot be read: %w", err)
	}
	if !header.Response {
		return answer{}, errors.New("the answer is a question")
	}
	// The question comes back as it was, but perhaps in other case.
	asked, _ := question(name, kind)
	questions, err := p.AllQuestions()
	if err != nil || len(questions) != 1 || questions[0].Type != kind || questions[0].Class != asked.Class ||
		!strings.EqualFold(questions[0].Name.String(), asked.Name.String()) {
		return answer{}, errors.New("the answer is to another question")
	}
	got := answer{code: header.RCode}
	for {
		address, err := nextAddress(&p, kind)
		switch {
		case errors.Is(err, dnsmessage.ErrSectionDone), err != nil && header.Truncated: // what is there of one that was cut is good
			return got, nil
		case err != nil:
			return answer{}, fmt.Errorf("the answer cannot be read: %w", err)
		case address.IsValid() && len(got.addresses) < maxAddresses:
			got.addresses = append(got.addresses, address.String())
		}
	}
}

// nextAddress reads a record, and returns its address if it is one of the type that is wanted.
func nextAddress(p *dnsmessage.Parser, kind dnsmessage.Type) (address netip.Addr, err error) {
	h, err := p.AnswerHeader()
	if err != nil {
		return address, err
	}
	switch size := h.Length; {
	case h.Type != kind || h.Class != dnsmessage.ClassINET:
	case kind == dnsmessage.TypeA && size == 4:
		r, err := p.AResource()
		return netip.AddrFrom4(r.A), err
	case kind == dnsmessage.TypeAAAA && size == 16:
		r, err := p.AAAAResource()
		return netip.AddrFrom16(r.AAAA), err
	}
	return address, p.SkipAnswer()
}
