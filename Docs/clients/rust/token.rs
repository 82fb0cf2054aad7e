// rustc token.rs && ./token [ORIGIN]: gets an access token and prints its length. Rust's standard library only.
use std::env;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::time::Duration;

/// Sends one line of JSON and returns the line of the response.
fn call(request: &str) -> io::Result<String> {
    let path = env::var("AUTHD_SOCKET")
        .ok()
        .filter(|path| !path.is_empty())
        .unwrap_or_else(|| {
            format!(
                "{}/authd/socket",
                env::var("XDG_RUNTIME_DIR").unwrap_or_default()
            )
        });
    let mut stream = UnixStream::connect(path)?;
    stream.set_read_timeout(Some(Duration::from_secs(70)))?;
    stream.write_all(format!("{request}\n").as_bytes())?;
    let mut line = String::new();
    if BufReader::new(stream).read_line(&mut line)? == 0 {
        return Err(io::Error::new(
            io::ErrorKind::UnexpectedEof,
            "the agent closed the connection before it answered",
        ));
    }
    Ok(line)
}

/// Not a JSON parser: Rust's library has none. A token has no characters that JSON escapes. A program uses serde_json.
fn token(answer: &str) -> Option<&str> {
    let rest = answer.split_once("\"access_token\":\"")?.1;
    rest.split_once('"').map(|(token, _)| token)
}

fn main() -> ExitCode {
    let origin = env::args().nth(1);
    let is_plain = |text: &String| {
        text.chars()
            .all(|c| c.is_ascii_alphanumeric() || "/:.-[]".contains(c))
    };
    if origin.as_ref().is_some_and(|origin| !is_plain(origin)) {
        eprintln!("not an origin, such as https://api.example.org");
        return ExitCode::from(64);
    }
    let origin = origin
        .map(|origin| format!(",\"origin\":\"{origin}\""))
        .unwrap_or_default();
    let request = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"token.get","params":{{"min_valid_ms":60000{origin}}}}}"#
    );
    let answer = match call(&request) {
        Ok(answer) => answer,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    match token(&answer) {
        // Send it as `Authorization: Bearer …`; after a 401, call token.reject and get it again.
        Some(token) => println!("a token of {} bytes", token.len()),
        // The error object has code, message and data.kind.
        None => {
            eprintln!("{}", answer.trim_end());
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
