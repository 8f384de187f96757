package report

import (
	"image/color"
	"io"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// What the plot shows of the measures that grow, by name and by what of the peer's stands against it.
var (
	plottedTimes = []plotted{
		{"Get a cached Pod, copied", "Get", "Get"},
		{"List 100 Pods by label, copied", "List", "List 100 by label"},
		{"List all Pods, copied", "List", "List all"},
		{"Lend a cached Pod", "Get, UnsafeDisableDeepCopy", "Lend / Get unsafe"},
	}
	plottedMemory = []plotted{
		{"Heap of a cache of Pods", "default", "heap of the cache"},
		{"Peak RSS of the initial list of Pods", "default", "peak RSS of the initial list"},
	}
)

type plotted struct{ name, peer, label string }

var (
	ourColor  = color.RGBA{R: 0x1b, G: 0x7f, B: 0x5c, A: 0xff}
	peerColor = color.RGBA{R: 0xb0, G: 0x3a, B: 0x2e, A: 0xff}
)

// WritePlot draws, as SVG, time and memory against the number of objects. Both axes are logarithmic.
func (r Report) WritePlot(w io.Writer) error {
	times, err := r.panel("time of a read", "µs", Nanoseconds, 1e-3, plottedTimes)
	if err != nil {
		return err
	}
	memory, err := r.panel("memory", "MB", Bytes, 1e-6, plottedMemory)
	if err != nil {
		return err
	}
	canvas := vgsvg.New(30*vg.Centimeter, 14*vg.Centimeter)
	page := draw.New(canvas)
	page.FillPolygon(color.White, []vg.Point{page.Min, {X: page.Max.X, Y: page.Min.Y}, page.Max, {X: page.Min.X, Y: page.Max.Y}})
	panels := [][]*plot.Plot{{times, memory}}
	for i, at := range plot.Align(panels, draw.Tiles{Rows: 1, Cols: 2, PadX: vg.Centimeter, PadTop: vg.Points(6), PadBottom: vg.Points(6), PadLeft: vg.Points(6), PadRight: vg.Points(12)}, page)[0] {
		panels[0][i].Draw(at)
	}
	_, err = canvas.WriteTo(w)
	return err
}

// panel plots measures that are in a unit, scaled to what the axis is labelled with.
func (r Report) panel(title, label string, in Unit, scale float64, measures []plotted) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = title
	p.X.Label.Text, p.Y.Label.Text = "cached Pods", label
	p.Legend.Top, p.Legend.Left = true, true
	p.Add(plotter.NewGrid())
	drawn := false
	for i, m := range measures {
		for _, g := range r.growth {
			if g.Name != m.name || g.Peer != m.peer || g.Unit != in || g.OurExponent == nil || g.TheirExponent == nil {
				continue
			}
			for _, library := range []struct {
				name   string
				values []float64
				color  color.Color
				dashes []vg.Length
			}{
				{"Operon: ", g.Ours, ourColor, nil},
				{"controller-runtime: ", g.Theirs, peerColor, []vg.Length{vg.Points(5), vg.Points(3)}},
			} {
				points := make(plotter.XYs, len(g.Sizes))
				for at, size := range g.Sizes {
					points[at] = plotter.XY{X: size, Y: library.values[at] * scale}
				}
				line, marks, err := plotter.NewLinePoints(points)
				if err != nil {
					return nil, err
				}
				line.Color, line.Dashes, line.Width = library.color, library.dashes, vg.Points(1.5)
				marks.Color, marks.Shape, marks.Radius = library.color, shapes[i%len(shapes)], vg.Points(4)
				p.Add(line, marks)
				p.Legend.Add(library.name+m.label, line, marks)
				drawn = true
			}
		}
	}
	if !drawn {
		return p, nil
	}
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Scale = plot.LogScale{}
		axis.Tick.Marker = plot.LogTicks{Prec: -1}
		axis.Min = math.Pow(10, math.Floor(math.Log10(axis.Min)))
		axis.Max = math.Pow(10, math.Ceil(math.Log10(axis.Max)))
	}
	p.Y.Max *= math.Pow(10, float64(len(measures))/2) // room for the legend
	p.Y.Max = math.Pow(10, math.Ceil(math.Log10(p.Y.Max)))
	return p, nil
}

var shapes = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.CrossGlyph{}}
