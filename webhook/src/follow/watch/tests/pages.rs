//! Tests that a list is read in pages, and how many objects each page asks for.

use super::*;

/// Follows a list of objects of these sizes, in bytes. Returns the number of objects in the store, and how many objects each request for a
/// page asked for.
async fn paged(sizes: Vec<usize>) -> (usize, Vec<usize>) {
    let asked: Arc<Mutex<Vec<usize>>> = Arc::default();
    let noted = Arc::clone(&asked);
    let number = |uri: &str, key: &str| -> usize {
        let pairs = uri.split(['?', '&']).filter_map(|it| it.split_once('='));
        let mut found = pairs.filter(|(name, _)| *name == key);
        found.next().map_or(0, |(_, value)| value.parse().unwrap())
    };
    let api = move |uri: String| {
        if !lists(&uri) {
            return None;
        }
        let (from, limit) = (number(&uri, "continue"), number(&uri, "limit"));
        noted.lock().unwrap().push(limit);
        let to = (from + limit).min(sizes.len());
        let items = (from..to).map(|number| {
            let mut item = widget(&number.to_string(), "1");
            item["data"] = json!("x".repeat(sizes[number]));
            item
        });
        let next = if to < sizes.len() {
            to.to_string()
        } else {
            String::new()
        };
        Some(Reply::Page(items.collect(), next))
    };
    let (store, _) = play(5, Box::new(api)).await;
    let asked = asked.lock().unwrap().clone();
    (store.len(), asked)
}

#[tokio::test(start_paused = true)]
async fn the_pages_of_a_list_follow_the_size_of_its_objects() {
    let (found, asked) = paged(vec![100; 5_000]).await;
    assert_eq!((found, &asked[..5]), (5_000, &[10, 40, 160, 500, 500][..]));
    assert!(asked.len() < 20, "{asked:?}");

    let large = 1_400_000;
    let (found, asked) = paged(vec![large; 30]).await;
    assert_eq!(
        (found, &asked[..4]),
        (30, &[10, 1, 1, 1][..]),
        "the first is not read to its end"
    );

    // Small ones first, to have a large page asked for.
    let sizes = [vec![100; 800], vec![large; 20], vec![100; 100]].concat();
    let (found, asked) = paged(sizes).await;
    assert_eq!(found, 920);
    assert!(asked.contains(&500) && asked.contains(&1), "{asked:?}");
}

#[tokio::test(start_paused = true)]
async fn the_next_page_is_asked_for_while_one_is_trimmed() {
    let asked: Arc<Mutex<usize>> = Arc::default();
    let noted = Arc::clone(&asked);
    let api = move |uri: String| {
        let mut asked = noted.lock().unwrap();
        let items = (*asked * 100..).take(100);
        let items = items.map(|number| widget(&number.to_string(), "1"));
        *asked += usize::from(lists(&uri));
        let next = if *asked < 3 {
            asked.to_string()
        } else {
            String::new()
        };
        lists(&uri).then(|| Reply::Page(items.collect(), next))
    };
    let trimmed: Arc<Mutex<Vec<usize>>> = Arc::default();
    let shown = Arc::clone(&trimmed);
    let observer = move |_: &Value| shown.lock().unwrap().push(*asked.lock().unwrap());
    let (store, _) = play_before(5, Box::new(api), Some(Arc::new(observer))).await;
    assert_eq!(store.len(), 300);
    let trimmed = trimmed.lock().unwrap();
    // How many pages had been asked for when the last object of each was trimmed.
    assert_eq!([trimmed[99], trimmed[199], trimmed[299]], [2, 3, 3]);
}
