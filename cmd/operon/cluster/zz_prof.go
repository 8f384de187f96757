package cluster

import (
	"os"
	"runtime/pprof"
	"runtime/trace"
	"time"
)

func init() {
	if p := os.Getenv("OPPROF"); p != "" {
		f, _ := os.Create(p)
		pprof.StartCPUProfile(f)
		go func() {
			d, _ := time.ParseDuration(os.Getenv("OPDUR"))
			time.Sleep(d)
			pprof.StopCPUProfile()
			f.Close()
			h, _ := os.Create(p + ".heap")
			pprof.Lookup("heap").WriteTo(h, 0)
			h.Close()
		}()
	}
	if p := os.Getenv("OPTRACE"); p != "" {
		f, _ := os.Create(p)
		trace.Start(f)
		go func() { time.Sleep(2 * time.Second); trace.Stop(); f.Close() }()
	}
}
