// rustc token.rs && ./token [ORIGIN]: for how long the session has a token. Rust's standard library only.
use std::env;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::time::Duration;

/// Sends one line of JSON and returns the line of the response. A program with serde_json parses that.
fn call(request: &str) -> io::Result<String> {
    let path = env::var("AUTHD_SOCKET").ok().filter(|path| !path.is_empty()).unwrap_or_else(|| {
        format!("{}/authd/socket", env::var("XDG_RUNTIME_DIR").unwrap_or_default())
    });
    let mut stream = UnixStream::connect(path)?;
    stream.set_read_timeout(Some(Duration::from_secs(70)))?;
    stream.write_all(format!("{request}\n").as_bytes())?;
    let mut line = String::new();
    if BufReader::new(stream).read_line(&mut line)? == 0 {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the agent closed the connection before it answered"));
    }
    Ok(line)
}

/// A member whose value is a string without escapes, such as a token or an error's kind.
fn member<'a>(json: &'a str, name: &str) -> Option<&'a str> {
    let start = json.find(&format!("\"{name}\":\""))? + name.len() + 4;
    json[start..].find('"').map(|end| &json[start..start + end])
}

fn main() -> ExitCode {
    let origin = env::args().nth(1).map(|origin| format!(",\"origin\":\"{origin}\"")).unwrap_or_default();
    let request = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"token.get\",\"params\":{{\"min_valid_ms\":60000{origin}}}}}"
    );
    match call(&request) {
        Ok(answer) => match member(&answer, "access_token") {
            // Send it as `Authorization: Bearer …`; after a 401, call token.reject and get it again.
            Some(token) => {
                println!("a token of {} bytes, good for a minute at least", token.len());
                ExitCode::SUCCESS
            }
            None => {
                let (kind, message) = (member(&answer, "kind"), member(&answer, "message"));
                eprintln!("{}: {}", kind.unwrap_or("internal"), message.unwrap_or(&answer));
                ExitCode::FAILURE
            }
        },
        Err(error) => {
            eprintln!("no_agent: {error}");
            ExitCode::FAILURE
        }
    }
}
