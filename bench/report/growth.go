package report

// growth is how a measure grows with the number of objects: the rows of one name, unit and peer.
type growth struct {
	Name   string    `json:"name"`
	Unit   Unit      `json:"unit"`
	Peer   string    `json:"peer"`
	Sizes  []float64 `json:"sizes"`
	Ours   []float64 `json:"operon"`
	Theirs []float64 `json:"controllerRuntime"`

	// The exponents of size: 0 where the measure does not grow, 1 where it grows in proportion. Nil: not to be fitted.
	OurExponent   *float64 `json:"operonExponent"`
	TheirExponent *float64 `json:"controllerRuntimeExponent"`
}

// growthOf finds the measures that were taken at two sizes or more, in the order of their first rows.
func growthOf(rows []result) []growth {
	type measure struct {
		name, peer string
		unit       Unit
	}
	var order []measure
	found := map[measure]*growth{}
	for _, row := range rows {
		if row.Size == 0 {
			continue
		}
		m := measure{row.Name, row.Peer, row.Unit}
		g := found[m]
		if g == nil {
			g = &growth{Name: row.Name, Unit: row.Unit, Peer: row.Peer}
			found[m] = g
			order = append(order, m)
		}
		g.Sizes = append(g.Sizes, float64(row.Size))
		g.Ours = append(g.Ours, row.Ours.Median)
		g.Theirs = append(g.Theirs, row.Theirs.Median)
	}
	var all []growth
	for _, m := range order {
		g := found[m]
		if len(g.Sizes) < 2 {
			continue
		}
		if k, ok := exponent(g.Sizes, g.Ours); ok {
			g.OurExponent = &k
		}
		if k, ok := exponent(g.Sizes, g.Theirs); ok {
			g.TheirExponent = &k
		}
		all = append(all, *g)
	}
	return all
}
