package sqldb

// statements are the prepared statements of a connection, by their text.
type statements[T any] struct {
	Kept map[string]T
	Once map[string]T // of readOnce: the latest ones
}

// maxOnce is the number of statements of readOnce that stay prepared: those of a
// search's components often have the same text.
const maxOnce = 16

// get returns the statement of a text. It is prepared if it is new; with once, forget is
// called for the statements of readOnce if they have become many.
func (s *statements[T]) get(text string, once bool, prepare func() (T, error), forget func(T) error) (T, error) {
	if stmt, ok := s.Kept[text]; ok {
		return stmt, nil
	}
	if stmt, ok := s.Once[text]; ok {
		return stmt, nil
	}
	if once && len(s.Once) >= maxOnce {
		for _, stmt := range s.Once {
			if err := forget(stmt); err != nil {
				return stmt, err
			}
		}
		clear(s.Once)
	}
	stmt, err := prepare()
	if err != nil {
		return stmt, err
	}
	in := &s.Kept
	if once {
		in = &s.Once
	}
	if *in == nil {
		*in = map[string]T{}
	}
	(*in)[text] = stmt
	return stmt, nil
}
