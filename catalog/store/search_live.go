package store

import "context"

// countLive counts the spans of a component if the only condition is whether a
// unit is in a set. Layouts say which units are live, for a fifth of the cost of
// reading the units.
func (s *Snapshot) countLive(ctx context.Context, p *searchPlan, c *searchComponent, groups []searchGroup) error {
	if len(groups) != 1 {
		return nil
	}
	in, ok := groups[0].expr.(inSet)
	if !ok || in.ofSource || in.set.bits == nil {
		return nil
	}
	live, err := s.liveUnits(ctx, c, groups[0].translations)
	if err != nil {
		return err
	}
	part := len(p.parts) - 1
	for i := range p.spans {
		if span := &p.spans[i]; span.part == part {
			span.count, span.counted = live.common(in.set, span.lo, span.hi), true
		}
	}
	return nil
}

// blockSpan is a range [lo, hi) of the blocks of a translation's layout.
type blockSpan struct{ translation, lo, hi int64 }

// blockSpans divides layouts; the last span of each layout is open-ended, in case
// it has more blocks than the number of units says.
func blockSpans(translations []searchTranslation, units int64) (spans []blockSpan) {
	blocks := max(1, units/blockUnits)
	for _, t := range translations {
		lo := int64(0)
		for ; (lo+blocks)*blockUnits < t.units; lo += blocks {
			spans = append(spans, blockSpan{t.id, lo, lo + blocks})
		}
		spans = append(spans, blockSpan{t.id, lo, maxTime})
	}
	return spans
}

// liveUnits collects the live units of translations of a component.
func (s *Snapshot) liveUnits(ctx context.Context, c *searchComponent, translations []searchTranslation) (*idCollector, error) {
	spans := blockSpans(translations, s.db.searches.spanUnits)
	return s.collect(ctx, c, len(spans), func(s *Snapshot, i int, found *idCollector) error {
		b := &spans[i]
		var data []byte
		return s.s.queryMany(ctx, `SELECT data FROM layouts WHERE translation_id = $1 AND block >= $2 AND block < $3`, []any{b.translation, b.lo, b.hi}, func(scan scan) error {
			if err := scan(&data); err != nil {
				return err
			}
			return s.db.codec.eachID(data, found.add)
		})
	})
}
