//! The search for kinds that are named and not served.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_kind_that_is_not_served_is_sought_until_nobody_names_it() {
    let asked = Arc::new(std::sync::Mutex::new(0));
    let count = Arc::clone(&asked);
    let api_server = service_fn(move |request: Request<Body>| {
        if request.uri().path() == "/apis" {
            *count.lock().unwrap() += 1;
        }
        let nothing = json!({"kind": "Status", "status": "Failure", "message": "no", "reason": "no", "code": 404});
        let answer = Response::builder().status(404);
        let answer = answer.body(Answer::from(nothing.to_string())).unwrap();
        std::future::ready(Ok::<_, Infallible>(answer))
    });
    let (known, mut tasks) = catalog(Client::new(api_server, "default"));
    let definitions = known.want(&Kind::Builtin(kinds::CUSTOM_RESOURCE_DEFINITION));
    definitions.clear(Freshness::Forbidden);
    for _ in 0..10 {
        known.want(&widgets());
        pass(&mut tasks, 60).await;
    }
    let named = *asked.lock().unwrap();
    assert!(named >= 15, "{named} while it is named");
    pass(&mut tasks, 180).await;
    assert_eq!(known.watched(&widgets()).map(|it| it.freshness()), None);
    let before = *asked.lock().unwrap();
    pass(&mut tasks, 600).await;
    assert_eq!(*asked.lock().unwrap(), before);
    known.want(&widgets());
    pass(&mut tasks, 1).await;
    let widgets = known.watched(&widgets()).unwrap();
    assert_eq!(widgets.freshness(), Freshness::NotServed);
}

/// A tenant may name many kinds, and a gate that waits costs the API server nothing.
#[tokio::test(start_paused = true)]
async fn discovery_is_asked_once_for_all_kinds_that_nobody_defines() {
    let asked = Arc::new(std::sync::Mutex::new(Vec::new()));
    let noted = Arc::clone(&asked);
    let api_server = service_fn(move |request: Request<Body>| {
        let path = request.uri().path().to_owned();
        let answer = match path.as_str() {
            "/apis" => {
                let version = json!({"groupVersion": "metrics.k8s.io/v1", "version": "v1"});
                json!({"groups": [{"name": "metrics.k8s.io", "versions": [version], "preferredVersion": version}]})
            }
            "/apis/metrics.k8s.io/v1" => json!({"groupVersion": "metrics.k8s.io/v1", "resources": [
                {"name": "loads/status", "kind": "Load", "singularName": "", "namespaced": true, "verbs": ["get"]},
                {"name": "loads", "kind": "Load", "singularName": "", "namespaced": true, "verbs": ["list"]},
            ]}),
            _ => json!({"metadata": {"resourceVersion": "1"}, "items": []}),
        };
        let watches = request
            .uri()
            .query()
            .is_some_and(|it| it.contains("watch="));
        noted.lock().unwrap().push(path);
        async move {
            // An answer takes its time, and so they all ask before the first one has it.
            tokio::time::sleep(Duration::from_millis(50)).await;
            if watches {
                std::future::pending::<()>().await;
            }
            Ok::<_, Infallible>(Response::new(Answer::from(answer.to_string())))
        }
    });
    let (known, mut tasks) = catalog(Client::new(api_server, "default"));
    let definitions = known.want(&Kind::Builtin(kinds::CUSTOM_RESOURCE_DEFINITION));
    definitions.replace::<&Value>(&[]);
    let kind = |group: &str, word: String| Kind::Custom {
        group: group.to_owned(),
        word,
    };
    let groups = ["metrics.k8s.io", "example.com"];
    let bogus = || groups.map(|group| (0..64).map(move |it| kind(group, format!("Bogus{it}"))));
    for _ in 0..10 {
        let named: Vec<_> = bogus().into_iter().flatten().collect();
        let stores: Vec<_> = named.iter().map(|it| known.want(it)).collect();
        let loads = known.want(&kind("metrics.k8s.io", "loads".to_owned()));
        pass(&mut tasks, 30).await;
        assert!(
            stores
                .iter()
                .all(|it| it.freshness() == Freshness::NotServed)
        );
        assert_eq!(loads.details().namespaced, Some(true));
    }
    let asked = asked.lock().unwrap();
    for path in ["/apis", "/apis/metrics.k8s.io/v1"] {
        let times = asked.iter().filter(|it| *it == path).count();
        assert!((5..=11).contains(&times), "{path}: {times}");
    }
}

/// Gates of many namespaces name more missing kinds than there is room for, and are judged anew whenever an object that they read
/// changes.
#[tokio::test(start_paused = true)]
async fn kinds_that_do_not_exist_are_sought_once_however_many_name_them() {
    let asks = std::future::pending::<Result<Response<Answer>, Infallible>>;
    let api_server = service_fn(move |request: Request<Body>| {
        let lists_groups = request.uri().path() == "/apis";
        async move {
            if lists_groups {
                let nothing = json!({"groups": []}).to_string();
                Ok(Response::new(Answer::from(nothing)))
            } else {
                asks().await
            }
        }
    });
    let (known, mut tasks) = catalog(Client::new(api_server, "default"));
    let definitions = known.want(&Kind::Builtin(kinds::CUSTOM_RESOURCE_DEFINITION));
    definitions.replace::<&Value>(&[]);
    let judged = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    for gate in 0..40 {
        let (known, judged) = (Arc::clone(&known), Arc::clone(&judged));
        tokio::spawn(async move {
            loop {
                let view = known.view_of(&format!("tenant-{gate}"));
                for number in 0..64 {
                    let kind = Kind::Custom {
                        group: "example.org".to_owned(),
                        word: format!("Ghost{gate}x{number}"),
                    };
                    let _ = view.list(&kind, None, &Selector::default());
                }
                judged.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                let _ = tokio::time::timeout(Duration::from_mins(1), view.changed()).await;
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        });
    }
    let mut judged_in = async |seconds: u64| {
        judged.store(0, std::sync::atomic::Ordering::Relaxed);
        for _ in 0..seconds.div_ceil(10) {
            definitions.replace::<&Value>(&[]);
            pass(&mut tasks, 10).await;
        }
        judged.load(std::sync::atomic::Ordering::Relaxed)
    };
    judged_in(20).await;
    let judged = judged_in(100).await;
    assert!(judged <= 40 * 6, "{judged} times in 100 s");
}

/// The catalog looks at once for a kind that lists have named in vain when its definition appears.
#[tokio::test(start_paused = true)]
async fn a_kind_is_followed_within_a_second_of_its_definition() {
    let api_server = service_fn(move |request: Request<Body>| {
        let uri = request.uri().to_string();
        async move {
            if uri.contains("watch=") {
                return std::future::pending().await;
            }
            let list = json!({"metadata": {"resourceVersion": "1"}, "items": [], "groups": []});
            Ok::<_, Infallible>(Response::new(Answer::from(list.to_string())))
        }
    });
    let (known, mut tasks) = catalog(Client::new(api_server, "default"));
    let definitions = known.want(&Kind::Builtin(kinds::CUSTOM_RESOURCE_DEFINITION));
    definitions.replace::<&Value>(&[]);
    let widgets = known.want(&widgets());
    pass(&mut tasks, 3).await;
    assert_eq!(widgets.freshness(), Freshness::NotServed);
    definitions.apply(&definition("v1", &json!({})));
    pass(&mut tasks, 1).await;
    assert_eq!(widgets.freshness(), Freshness::Live);
}
