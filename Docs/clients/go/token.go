// go run token.go [ORIGIN]: gets an access token and prints its length. Go's standard library only.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"time"
)

// AgentError is an error of the agent; Kind is a word for programs.
type AgentError struct {
	Message string `json:"message"`
	Data    struct {
		Kind      string `json:"kind"`
		Retryable bool   `json:"retryable"`
	} `json:"data"`
}

func (e *AgentError) Error() string { return e.Data.Kind + ": " + e.Message }

// Call calls one method and decodes its result.
func Call(method string, params any, result any, timeout time.Duration) error {
	path := os.Getenv("AUTHD_SOCKET")
	if path == "" {
		path = os.Getenv("XDG_RUNTIME_DIR") + "/authd/socket"
	}
	connection, err := net.Dial("unix", path)
	if err != nil {
		return fmt.Errorf("no_agent: %w", err)
	}
	defer connection.Close()
	if err := connection.SetDeadline(time.Now().Add(timeout)); err != nil {
		return err
	}
	request := map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
	// Encode ends the line.
	if err := json.NewEncoder(connection).Encode(request); err != nil {
		return err
	}
	line, err := bufio.NewReader(connection).ReadBytes('\n')
	if err != nil {
		return err
	}
	var answer struct {
		Result json.RawMessage `json:"result"`
		Error  *AgentError     `json:"error"`
	}
	if err := json.Unmarshal(line, &answer); err != nil {
		return err
	}
	if answer.Error != nil {
		return answer.Error
	}
	return json.Unmarshal(answer.Result, result)
}

func main() {
	params := map[string]any{"min_valid_ms": 60000}
	if len(os.Args) > 1 {
		params["origin"] = os.Args[1]
	}
	var token struct {
		AccessToken string `json:"access_token"`
	}
	if err := Call("token.get", params, &token, 70*time.Second); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	// Send it as `Authorization: Bearer …`; after a 401, call token.reject and get it again.
	fmt.Printf("a token of %d bytes\n", len(token.AccessToken))
}
