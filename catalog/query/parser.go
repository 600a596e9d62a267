package query

import "time"

// parser parses tokens to an expression.
type parser struct {
	text   string
	tokens []token
	at     int
	now    time.Time
	terms  int
	sizes  int // instructions of the regular expressions so far
}

func (p *parser) peek() (tokenKind, bool) {
	if p.at == len(p.tokens) {
		return 0, false
	}
	return p.tokens[p.at].kind, true
}

func (p *parser) or(depth int) (Expr, error) {
	var list Or
	for {
		e, err := p.and(depth)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
		if kind, ok := p.peek(); !ok || kind != orToken {
			break
		}
		p.at++
	}
	if len(list) == 1 {
		return list[0], nil
	}
	return list, nil
}

func (p *parser) and(depth int) (Expr, error) {
	var list And
	for {
		e, err := p.not(depth)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
		kind, ok := p.peek()
		if !ok || kind == orToken || kind == closeToken {
			break
		}
		if kind == andToken {
			p.at++
		}
	}
	if len(list) == 1 {
		return list[0], nil
	}
	return list, nil
}

func (p *parser) not(depth int) (Expr, error) {
	if p.at == len(p.tokens) {
		return nil, p.failf(len(p.text), "Expected a term")
	}
	t := &p.tokens[p.at]
	if depth > MaxDepth {
		return nil, p.failf(t.pos, "Nested more than %d deep", MaxDepth)
	}
	p.at++
	switch t.kind {
	case notToken:
		e, err := p.not(depth + 1)
		if err != nil {
			return nil, err
		}
		return Not{e}, nil
	case openToken:
		return p.group(t, depth)
	case termToken:
		if p.terms++; p.terms > MaxTerms {
			return nil, p.failf(t.pos, "More than %d terms", MaxTerms)
		}
		return p.term(t)
	}
	return nil, p.failf(t.pos, "Expected a term instead of %s", quote(t.text))
}

func (p *parser) group(open *token, depth int) (Expr, error) {
	e, err := p.or(depth + 1)
	if err != nil {
		return nil, err
	}
	if kind, ok := p.peek(); !ok || kind != closeToken {
		return nil, p.failf(open.pos, "The parenthesis is not closed")
	}
	p.at++
	return e, nil
}
