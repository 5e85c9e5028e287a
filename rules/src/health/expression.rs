//! One CEL expression of a health rule: compiled once, within bounds, and evaluated over the top-level fields of an object.

use super::functions;
use cel::common::ast::{EntryExpr, Expr, IdedExpr};
use cel::common::types::{
    CelBool, CelDouble, CelInt, CelList, CelMap, CelNull, CelString, CelUInt,
};
use cel::common::value::Val;
use cel::{Context, Env, ExecutionError};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

/// The longest text of a CEL expression, in bytes.
const LONGEST: usize = 4096;

/// The deepest nesting that the parser accepts, in levels. The parser of the crate and its interpreter recurse, so deeper texts could
/// exhaust the stack.
const DEEPEST: u16 = 32;

/// The stack of the thread that parses an expression, in bytes. The system takes memory for it only as the parser uses it.
const STACK: usize = 16 * 1024 * 1024;

/// The deepest tree of an expression, in levels: evaluating a level takes up to 30 KiB of stack. Operators that follow each
/// other nest too, except `&&` and `||`, which are balanced.
const TALLEST: usize = 40;

/// The most loops (`all`, `exists`, `filter`, `map`) of one expression.
const LOOPS: usize = 32;

/// The most rounds of the innermost of nested loops, over one evaluation.
const STEPS: u64 = 100_000;

/// The largest object that an expression is evaluated over: the number of its values, plus the bytes of its texts and keys.
const LARGEST: usize = 256 * 1024;

/// The environment of Flux: optional values, the extensions for strings, encoders and sets.
static ENV: LazyLock<Arc<Env>> = LazyLock::new(|| {
    let mut env = Env::stdlib();
    // Each call fails only for a name that the environment already has, and a fresh environment has none of these.
    let _ = env.add_extension(cel::extensions::strings);
    let _ = env.add_extension(cel::extensions::encoders);
    let _ = env.add_extension(functions::sets);
    Arc::new(env)
});

/// The reason why a text cannot be used as a CEL expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// The text of the CEL expression is empty.
    #[error("the CEL expression is empty")]
    Empty,
    /// The text of the CEL expression is longer than 4 KiB.
    #[error("the CEL expression has {0} bytes; at most {LONGEST} are allowed")]
    TooLong(usize),
    /// The CEL expression is nested too deep, or has too many loops.
    #[error("the CEL expression is too complex: {0}")]
    TooComplex(&'static str),
    /// The text is not in the syntax of CEL.
    #[error("failed to parse the CEL expression '{text}': {error}")]
    Syntax {
        /// The text that is no CEL.
        text: String,
        /// The message of CEL's parser.
        error: String,
    },
}

/// A compiled CEL expression.
#[derive(Debug)]
pub struct CelExpression {
    text: String,
    tree: IdedExpr,
    /// The deepest nesting of loops in the CEL expression.
    nested: u32,
    /// The length of the longest list that is written in the CEL expression.
    literal: usize,
}

impl CelExpression {
    /// Compiles the text of a CEL expression. An error for a text that is empty, too long, too complex or no CEL, and for a call of an unknown
    /// function.
    pub fn compile(text: &str) -> Result<Self, Broken> {
        if text.trim().is_empty() {
            return Err(Broken::Empty);
        }
        if text.len() > LONGEST {
            return Err(Broken::TooLong(text.len()));
        }
        if !is_shallow(text) {
            return Err(Broken::TooComplex("it is nested too deep"));
        }
        let tree = parse(text)?;
        let shape = Shape::of(&tree);
        if let Some(error) = shape.fault {
            let text = text.to_owned();
            return Err(Broken::Syntax { text, error });
        }
        if shape.depth > TALLEST {
            return Err(Broken::TooComplex("it is nested too deep"));
        }
        if shape.loops > LOOPS {
            return Err(Broken::TooComplex("it has too many loops"));
        }
        Ok(Self {
            text: text.to_owned(),
            tree,
            nested: shape.nested,
            literal: shape.literal,
        })
    }

    /// Whether the expression is true of an object. The error is a sentence in Flux's words: the expression cannot be evaluated, gives neither true
    /// nor false, or would take too long over so large an object.
    pub fn holds(&self, object: &Value) -> Result<bool, String> {
        let told = |error: &str| {
            format!(
                "failed to evaluate the CEL expression '{}': {error}",
                self.text
            )
        };
        let size = Size::of(object, self.literal).ok_or_else(|| told("the object is too large"))?;
        if self.nested > 1 && size.longest.saturating_pow(self.nested) > STEPS {
            return Err(told(
                "its nested loops take too many steps over this object",
            ));
        }
        let mut context = Context::with_env(Arc::clone(&ENV));
        let references = self.tree.references();
        for (name, value) in object.as_object().into_iter().flatten() {
            if references.has_variable(name) {
                context.add_variable_as_val(name.clone(), convert(value));
            }
        }
        let result = cel::Value::resolve_val(&self.tree, &context)
            .map_err(|error| told(&sentence(&error)))?;
        match result.downcast_ref::<CelBool>() {
            Some(holds) => Ok(*holds.inner()),
            None => Err(told("it does not give true or false")),
        }
    }
}

/// Parses on a thread of its own: the parser takes up to 150 KiB of stack for one level of brackets, and the caller's thread may
/// have only 2 MiB.
fn parse(text: &str) -> Result<IdedExpr, Broken> {
    let broken = |error: String| Broken::Syntax {
        text: text.to_owned(),
        error,
    };
    let parse = || {
        let parser = ENV.parser().max_recursion_depth(DEEPEST);
        parser.parse(text).map_err(|errors| {
            let first = errors.errors.first();
            first.map_or_else(|| errors.to_string(), |error| error.msg.clone())
        })
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK);
        let parsed = thread
            .spawn_scoped(scope, parse)
            .map(std::thread::ScopedJoinHandle::join);
        match parsed {
            Ok(Ok(parsed)) => parsed.map_err(broken),
            Ok(Err(_)) => Err(broken("the parser gave up".to_owned())),
            Err(error) => Err(broken(format!("no thread to parse on: {error}"))),
        }
    })
}

fn sentence(error: &ExecutionError) -> String {
    match error {
        ExecutionError::NoSuchKey(key) => format!("no such key: {key}"),
        ExecutionError::UndeclaredReference(name) => format!("no such attribute(s): {name}"),
        other => {
            // Some of the crate's errors quote the whole value.
            let mut text = other.to_string();
            text.truncate(text.floor_char_boundary(200));
            text
        }
    }
}

/// Converts a part of an object for the interpreter. The crate's own conversion makes positive numbers unsigned, and CEL adds no unsigned
/// number to a signed one.
fn convert(value: &Value) -> Box<dyn Val + '_> {
    match value {
        Value::Null => Box::new(CelNull),
        Value::Bool(flag) => Box::new(CelBool::from(*flag)),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => Box::new(CelInt::from(number)),
            (None, Some(number)) => Box::new(CelUInt::from(number)),
            (None, None) => Box::new(CelDouble::from(number.as_f64().unwrap_or(f64::NAN))),
        },
        Value::String(text) => Box::new(CelString::from(text.as_str())),
        Value::Array(list) => Box::new(CelList::from(list.iter().map(convert).collect::<Vec<_>>())),
        Value::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(key, value)| (key.as_str().into(), convert(value)));
            Box::new(CelMap::from(fields.collect::<HashMap<_, _>>()))
        }
    }
}

/// Whether the brackets and signs of a text are nested so little that the parser can read the text. The parser counts levels as well, but
/// it recurses before it counts.
fn is_shallow(text: &str) -> bool {
    let mut depth = 0_usize;
    let mut signs = 0_usize;
    for letter in text.chars() {
        match letter {
            '(' | '[' | '{' | '?' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            '!' | '-' => signs += 1,
            _ => {}
        }
        if depth > 4 * usize::from(DEEPEST) || signs > 4 * TALLEST {
            return false;
        }
    }
    true
}

/// The properties of an expression that bound the cost of its evaluation.
#[derive(Debug, Default)]
struct Shape {
    depth: usize,
    loops: usize,
    nested: u32,
    literal: usize,
    /// The message about the first call of a function that does not exist, or that takes another number of values.
    fault: Option<String>,
}

impl Shape {
    fn of(tree: &IdedExpr) -> Self {
        let mut shape = Self::default();
        let mut rest = vec![(tree, 1, 0)];
        while let Some((node, depth, nested)) = rest.pop() {
            shape.depth = shape.depth.max(depth);
            shape.nested = shape.nested.max(nested);
            let mut visit = |node, nested| rest.push((node, depth + 1, nested));
            match &node.expr {
                Expr::Call(call) => {
                    shape.fault = shape.fault.or_else(|| functions::fault(call));
                    call.target
                        .iter()
                        .for_each(|target| visit(&**target, nested));
                    call.args
                        .iter()
                        .for_each(|argument| visit(argument, nested));
                }
                Expr::Comprehension(each) => {
                    shape.loops += 1;
                    // The range is walked once for each turn of the loops around it.
                    visit(&each.iter_range, nested);
                    visit(&each.accu_init, nested);
                    visit(&each.result, nested);
                    visit(&each.loop_cond, nested + 1);
                    visit(&each.loop_step, nested + 1);
                }
                Expr::List(list) => {
                    shape.literal = shape.literal.max(list.elements.len());
                    list.elements
                        .iter()
                        .for_each(|element| visit(element, nested));
                }
                Expr::Select(select) => visit(&select.operand, nested),
                Expr::Map(map) => entries(&map.entries, &mut |node| visit(node, nested)),
                Expr::Struct(made) => entries(&made.entries, &mut |node| visit(node, nested)),
                Expr::Ident(_) | Expr::Literal(_) | Expr::Unspecified => {}
            }
        }
        shape
    }
}

fn entries<'a>(
    entries: &'a [cel::common::ast::IdedEntryExpr],
    visit: &mut dyn FnMut(&'a IdedExpr),
) {
    for entry in entries {
        match &entry.expr {
            EntryExpr::StructField(field) => visit(&field.value),
            EntryExpr::MapEntry(entry) => {
                visit(&entry.key);
                visit(&entry.value);
            }
        }
    }
}

/// The property of an object that decides the cost of an evaluation.
struct Size {
    /// The length of the longest list or map in the object or in the expression.
    longest: u64,
}

impl Size {
    /// Measures an object; `None` for an object that is too large ([`LARGEST`]).
    fn of(object: &Value, literal: usize) -> Option<Self> {
        let mut longest = literal;
        let mut total = 0_usize;
        let mut rest = vec![object];
        while let Some(value) = rest.pop() {
            total += 1;
            match value {
                Value::String(text) => total += text.len(),
                Value::Array(list) => {
                    longest = longest.max(list.len());
                    rest.extend(list);
                }
                Value::Object(fields) => {
                    longest = longest.max(fields.len());
                    total += fields.keys().map(String::len).sum::<usize>();
                    rest.extend(fields.values());
                }
                Value::Null | Value::Bool(_) | Value::Number(_) => {}
            }
            if total > LARGEST {
                return None;
            }
        }
        Some(Self {
            longest: u64::try_from(longest).unwrap_or(u64::MAX),
        })
    }
}
