//! A headless Chromium, driven over two pipes by its DevTools protocol: JSON values with a zero byte after each.

use harness::cluster::{LIMIT, await_until};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// The command that starts Chromium, which reads commands from descriptor 3 and answers at descriptor 4. Without its motions the page
/// takes next to no processor time, and motions that go on for as long as a wait would take as much as the node.
const START: &str = "exec chromium --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --force-prefers-reduced-motion \
    --remote-debugging-pipe --user-data-dir=\"$1\" 3<&0 4>&1 >/dev/null 2>/dev/null";

/// The JavaScript expression for the element with the details beside the graph.
const DETAILS: &str = "document.querySelector('.details')";

/// One tab of a browser. The browser ends when this is dropped.
pub(crate) struct Browser {
    process: Child,
    answers: mpsc::Receiver<Value>,
    session: Option<String>,
    asked: u64,
    /// The faults that the browser has reported of the page: errors, and parts that its content policy refused.
    pub(crate) complaints: Vec<String>,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts a headless Chromium with one empty tab; `None` where none is installed.
    pub(crate) fn start() -> Option<Self> {
        let there = Command::new("chromium").arg("--version").output();
        if there.is_err() {
            return None;
        }
        let profile = tempfile::tempdir().expect("a folder");
        let mut process = Command::new("sh")
            .args(["-c", START, "sh"])
            .arg(profile.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("sh must start");
        let output = process.stdout.take().expect("a pipe");
        let (sender, answers) = mpsc::channel();
        std::thread::spawn(move || {
            for answer in BufReader::new(output).split(0).map_while(Result::ok) {
                let answer = serde_json::from_slice(&answer).expect("JSON");
                if sender.send(answer).is_err() {
                    return;
                }
            }
        });
        let mut browser = Self {
            process,
            answers,
            session: None,
            asked: 0,
            complaints: Vec::new(),
            _profile: profile,
        };
        let tab = browser.ask("Target.createTarget", &json!({"url": "about:blank"}));
        let tab = json!({"targetId": tab["targetId"], "flatten": true});
        let session = browser.ask("Target.attachToTarget", &tab);
        browser.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log"] {
            browser.ask(&format!("{domain}.enable"), &json!({}));
        }
        Some(browser)
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.asked += 1;
        let mut question = json!({"id": self.asked, "method": method, "params": params});
        if let Some(session) = &self.session {
            question["sessionId"] = json!(session);
        }
        let input = self.process.stdin.as_mut().expect("a pipe");
        write!(input, "{question}\0").expect("Chromium reads");
        loop {
            let answer = self.answers.recv_timeout(LIMIT).expect("Chromium answers");
            if answer["id"] == self.asked {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].clone();
            }
            let wrong = match answer["method"].as_str() {
                Some("Runtime.exceptionThrown") => true,
                Some("Log.entryAdded") => answer["params"]["entry"]["level"] == "error",
                _ => false,
            };
            if wrong {
                self.complaints.push(answer["params"].to_string());
            }
        }
    }

    pub(crate) fn open(&mut self, address: &str) {
        self.ask("Page.navigate", &json!({"url": address}));
    }

    /// Returns the value of a JavaScript expression in the page. Fails where the expression throws.
    pub(crate) fn value(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let answer = self.ask("Runtime.evaluate", &params);
        let wrong = &answer["exceptionDetails"];
        assert!(wrong.is_null(), "{expression}: {wrong}");
        answer["result"]["value"].clone()
    }

    /// Waits until a JavaScript expression in the page has this value; fails after the limit.
    pub(crate) async fn until(&mut self, expression: &str, expected: Value) {
        let end = Instant::now() + LIMIT;
        loop {
            let value = self.value(expression);
            if value == expected {
                return;
            }
            assert!(
                Instant::now() < end,
                "{expression} is {value}, not {expected}; {:#?}",
                self.complaints
            );
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// Returns the text of the details beside the graph, in one line; empty where there are none.
    pub(crate) fn details(&mut self) -> String {
        let text = self.value(&format!("{DETAILS}.innerText.replace(/\\s+/g, ' ')"));
        text.as_str().unwrap_or_default().to_owned()
    }

    /// Waits until the details beside the graph contain this text.
    pub(crate) async fn until_details_say(&mut self, part: &str) {
        await_until(&format!("the page says {part:?}"), LIMIT, async || {
            let told = self.details();
            if told.contains(part) {
                Ok(())
            } else {
                Err(told)
            }
        })
        .await;
    }

    /// Presses a key, like `w` or `Enter`.
    pub(crate) fn press(&mut self, key: &str) {
        let text = match key {
            "Enter" => "\r",
            key if key.len() == 1 => key,
            _ => "",
        };
        // The browser knows the keys that it handles itself by their numbers.
        let number = if key == "Escape" { 27 } else { 0 };
        let pressed = |event: &str, text: &str| json!({"type": event, "key": key, "code": key, "text": text, "windowsVirtualKeyCode": number});
        let (down, up) = (pressed("keyDown", text), pressed("keyUp", ""));
        self.ask("Input.dispatchKeyEvent", &down);
        self.ask("Input.dispatchKeyEvent", &up);
    }

    /// Makes the window this wide and this high, in pixels.
    pub(crate) fn size(&mut self, width: u16, height: u16) {
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            &json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}),
        );
    }

    /// Sets the colour scheme of the user's system: `light` or `dark`.
    pub(crate) fn prefers(&mut self, scheme: &str) {
        let feature = json!({"name": "prefers-color-scheme", "value": scheme});
        self.ask(
            "Emulation.setEmulatedMedia",
            &json!({"features": [feature]}),
        );
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Where it has ended already there is nothing to kill.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
