package main

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/repoglot/repoglot/cmd/repoglot/config"
)

const healthTime = 5 * time.Second

func (p *program) healthCommand() *cobra.Command {
	var listen string
	cmd := &cobra.Command{
		Use:   "health",
		Short: "Ask the server on this machine whether it lives",
		Long: "Ask the server on this machine for /healthz: for health checks of containers\n" +
			"without a shell. The exit status is 0 if it answers with 200. The address is\n" +
			"--listen, else REPOGLOT_LISTEN, else " + config.DefaultListen + ".",
		Args: arguments(0, "no argument"),
		RunE: work(func(cmd *cobra.Command, _ []string) error {
			address := cmp.Or(listen, p.env()[config.EnvName("listen")], config.DefaultListen)
			return healthy(cmd.Context(), address)
		}),
	}
	cmd.Flags().StringVar(&listen, "listen", "", "`HOST:PORT` that the server listens on")
	return cmd
}

func healthy(ctx context.Context, listen string) error {
	if err := config.CheckListen(listen); err != nil {
		return usageError{fmt.Errorf("--listen %w", err)}
	}
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return usageError{err}
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	ctx, cancel := context.WithTimeout(ctx, healthTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+"/healthz", http.NoBody)
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // no proxy: it is this machine
	res, err := client.Do(r)
	if err != nil {
		return fmt.Errorf("no answer from %s: %w", listen, err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %s", listen, res.Status)
	}
	return nil
}
