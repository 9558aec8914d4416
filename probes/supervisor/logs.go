package supervisor

import (
	"context"
	"fmt"
	"log/slog"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

// TameLibraries sends the logs of client-go to a logger and makes its crash handler
// report instead of ending the process. It changes the libraries' own globals: main calls
// it once, before anything else runs.
func TameLibraries(log *slog.Logger) {
	klog.SetSlogLogger(log)
	utilruntime.ReallyCrash = false
	utilruntime.PanicHandlers = []func(context.Context, any){
		func(_ context.Context, p any) { log.Error("a library panicked", "panic", fmt.Sprint(p)) },
	}
}

// warnings takes the deprecation warnings of the API server.
type warnings struct{ log *slog.Logger }

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext.
func (w warnings) HandleWarningHeaderWithContext(_ context.Context, code int, _, text string) {
	if code == 299 && text != "" {
		w.log.Info("the API server warns", "text", text)
	}
}
