// Package dnsanswer makes the question for a name's addresses as a DNS message, and parses a server's answer. It sends
// nothing. internal/localdns and internal/doctor call it.
package dnsanswer

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"golang.org/x/net/dns/dnsmessage"
)

const (
	// answerBytes is the maximum size of an answer by UDP that is not fragmented (RFC 6891, 6.2.5; DNS flag day 2020).
	answerBytes = 1232
	// maxAddresses limits how many addresses of a name are kept.
	maxAddresses = 32
)

// question is the question for a name's addresses. It returns false if the text is not a name.
func question(name string, kind dnsmessage.Type) (dnsmessage.Question, bool) {
	full, err := dnsmessage.NewName(strings.TrimSuffix(name, ".") + ".")
	return dnsmessage.Question{Name: full, Type: kind, Class: dnsmessage.ClassINET}, err == nil && full.Length > 1
}

// Query is a query for a name's addresses. The caller sets its ID, the first two bytes. It is nil if the text is not a
// name.
func Query(name string, kind dnsmessage.Type) []byte {
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
		return nil // a label is empty or too long
	}
	return packed
}

// Answer is the used part of an answer.
type Answer struct {
	Code      dnsmessage.RCode
	Addresses []string
}

// Parse parses the answer to the query for a name. Its addresses are of the requested type: of the name, or of
// its canonical name.
func Parse(name string, kind dnsmessage.Type, message []byte) (Answer, error) {
	var p dnsmessage.Parser
	header, err := p.Start(message)
	if err != nil {
		return Answer{}, fmt.Errorf("the answer cannot be read: %w", err)
	}
	if !header.Response {
		return Answer{}, errors.New("the answer is a question")
	}
	// The question is returned unchanged, but perhaps in other case.
	asked, _ := question(name, kind)
	questions, err := p.AllQuestions()
	if err != nil || len(questions) != 1 || questions[0].Type != kind || questions[0].Class != asked.Class ||
		!strings.EqualFold(questions[0].Name.String(), asked.Name.String()) {
		return Answer{}, errors.New("the answer is to another question")
	}
	got := Answer{Code: header.RCode}
	for {
		address, err := nextAddress(&p, kind)
		switch {
		case errors.Is(err, dnsmessage.ErrSectionDone), err != nil && header.Truncated: // the records before the truncation are valid
			return got, nil
		case err != nil:
			return Answer{}, fmt.Errorf("the answer cannot be read: %w", err)
		case address.IsValid() && len(got.Addresses) < maxAddresses:
			got.Addresses = append(got.Addresses, address.String())
		}
	}
}

// nextAddress reads a record, and returns its address if it is of the requested type.
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
