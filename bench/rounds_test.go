package main

import (
	"slices"
	"testing"
	"time"

	"github.com/operon-dev/operon/bench/report"
)

func TestAPlanIsCutShortByItsTimeButForTheFirstRound(t *testing.T) {
	for name, test := range map[string]struct {
		plan plan
		want int
	}{
		"no limit":           {plan{planned: 4}, 4},
		"time enough":        {plan{planned: 4, until: time.Now().Add(time.Hour)}, 4},
		"out of time":        {plan{planned: 4, until: time.Now().Add(-time.Hour)}, 1},
		"a share of nothing": {plan{planned: 4, until: time.Now().Add(-time.Hour)}.oneOf(3), 1},
		"a share of enough":  {plan{planned: 4, until: time.Now().Add(time.Hour)}.oneOf(3), 4},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := 0, 0
			costs, err := interleave(test.plan,
				func() (cost, error) { a++; return cost{ns: 1}, nil },
				func() (cost, error) { b++; return cost{ns: 2}, nil })
			if err != nil {
				t.Fatal(err)
			}
			if a != test.want || b != test.want || len(costs[0]) != test.want || len(costs[1]) != test.want {
				t.Errorf("%d and %d rounds, want %d", a, b, test.want)
			}
			if rows := test.plan.of(report.Row{}); rows[0].Planned != 4 {
				t.Errorf("%d rounds are said to have been planned", rows[0].Planned)
			}
		})
	}
}

func TestAShareOfTheTimeIsAnEqualOne(t *testing.T) {
	share := time.Until(plan{until: time.Now().Add(time.Hour)}.oneOf(4).until)
	if share > 15*time.Minute || share < 10*time.Minute {
		t.Errorf("a quarter of an hour is %v", share)
	}
}

func TestContendersComeBeforeEachOtherEquallyOften(t *testing.T) {
	const n, rounds = 4, 20
	before := map[[2]int]int{}
	orders := map[string]bool{}
	for round := range rounds {
		order := inTurn(round, n)
		if !slices.Equal(slices.Sorted(slices.Values(order)), []int{0, 1, 2, 3}) {
			t.Fatalf("round %d: %v", round, order)
		}
		orders[string(rune('a'+order[0]))+string(rune('a'+order[1]))+string(rune('a'+order[2]))] = true
		for i, a := range order {
			for _, b := range order[i+1:] {
				before[[2]int{a, b}]++
			}
		}
	}
	for pair, times := range before {
		if times != rounds/2 {
			t.Errorf("%v: one comes before the other %d times of %d", pair, times, rounds)
		}
	}
	if len(orders) < 4 {
		t.Errorf("%d different orders in %d rounds", len(orders), rounds)
	}
}
