package wire

import "bytes"

// TranslationPage is a page of translations. It is a ListWriter. Languages and
// components that translations share are encoded once: a component has most of a
// translation's JSON.
type TranslationPage struct {
	translations []*Translation
	languages    map[*Language][]byte
	components   map[*Component][]byte
}

// NewTranslationPage makes a page of translations.
func NewTranslationPage(translations []*Translation) *TranslationPage {
	return &TranslationPage{translations, map[*Language][]byte{}, map[*Component][]byte{}}
}

// Objects returns the slice of translations.
func (p *TranslationPage) Objects() any { return p.translations }

// AppendJSON writes the page as an array.
func (p *TranslationPage) AppendJSON(b []byte) []byte {
	b = append(b, '[')
	for i := range p.translations {
		if i > 0 {
			b = append(b, ',')
		}
		b = p.AppendObject(b, i)
	}
	return append(b, ']')
}

// Len is the number of translations.
func (p *TranslationPage) Len() int { return len(p.translations) }

// AppendObject writes the translation at index i.
func (p *TranslationPage) AppendObject(b []byte, i int) []byte {
	const noLanguage = `{"language":null`
	own := *p.translations[i]
	language, component := own.Language, own.Component
	own.Language, own.Component = nil, nil
	b = append(append(b, `{"language":`...), encodedOnce(p.languages, language)...)
	if component != nil {
		b = append(append(b, `,"component":`...), encodedOnce(p.components, component)...)
	}
	return append(b, bytes.TrimPrefix(encoded(&own), []byte(noLanguage))...)
}

func encodedOnce[T any](known map[*T][]byte, object *T) []byte {
	text, ok := known[object]
	if !ok {
		text = encoded(object)
		known[object] = text
	}
	return text
}

// encoded is JSON for an object that has nothing that JSON cannot express.
func encoded(object any) []byte {
	text, err := JSON(object, 0)
	if err != nil {
		panic(err)
	}
	return text
}
