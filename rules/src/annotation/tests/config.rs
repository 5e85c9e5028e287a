//! Every refusal of the grammar of cli-utils.

use super::refused_config;
use insta::assert_snapshot;

#[test]
fn messages_name_the_grammar() {
    assert_snapshot!(refused_config("apps/Deployment"),
        @r#"config.kubernetes.io/depends-on: line 1, column 1: 3 or 5 fields are needed, "apps/Deployment" has 2; write group/Kind/name or group/namespaces/namespace/Kind/name, the core group being empty"#);
    assert_snapshot!(refused_config("apps/namespaces/default/Deployment/api,"),
        @r#"config.kubernetes.io/depends-on: line 1, column 40: an entry is empty; remove the comma"#);
    assert_snapshot!(refused_config(", apps/namespaces/default/Deployment/api"),
        @r#"config.kubernetes.io/depends-on: line 1, column 1: an entry is empty; remove the comma"#);
    assert_snapshot!(refused_config("apps/namespace/default/Deployment/api"),
        @r#"config.kubernetes.io/depends-on: line 1, column 6: the second of five fields is "namespaces", not "namespace"; write group/namespaces/namespace/Kind/name"#);
    assert_snapshot!(refused_config("a/b/c/d"),
        @r#"config.kubernetes.io/depends-on: line 1, column 1: 3 or 5 fields are needed, "a/b/c/d" has 4; write group/Kind/name or group/namespaces/namespace/Kind/name, the core group being empty"#);
    assert_snapshot!(refused_config("a/b/c/d/e/f"),
        @r#"config.kubernetes.io/depends-on: line 1, column 1: 3 or 5 fields are needed, "a/b/c/d/e/f" has 6; write group/Kind/name or group/namespaces/namespace/Kind/name, the core group being empty"#);
    assert_snapshot!(refused_config("Deployment"),
        @r#"config.kubernetes.io/depends-on: line 1, column 1: 3 or 5 fields are needed, "Deployment" has 1; write group/Kind/name or group/namespaces/namespace/Kind/name, the core group being empty"#);
    assert_snapshot!(refused_config("apps/namespaces/default/deployment/api"),
        @r#"config.kubernetes.io/depends-on: line 1, column 25: unknown kind "deployment" in group "apps"; did you mean "Deployment"?"#);
    assert_snapshot!(refused_config("apps/namespaces/default/Deploymnt/api"),
        @r#"config.kubernetes.io/depends-on: line 1, column 25: unknown kind "Deploymnt" in group "apps"; did you mean "Deployment"?"#);
    assert_snapshot!(refused_config("/namespaces/default/Deployment/api"),
        @r#"config.kubernetes.io/depends-on: line 1, column 21: kind "Deployment" is in group "apps", not in the core group; write that group, or none"#);
    assert_snapshot!(refused_config("/namespaces/default/Foo/x"),
        @r#"config.kubernetes.io/depends-on: line 1, column 21: unknown kind "Foo" in the core group; a kind that is not built into Kubernetes needs its own group"#);
    assert_snapshot!(refused_config("app/namespaces/default/Deployment/api"),
        @r#"config.kubernetes.io/depends-on: line 1, column 1: unknown group "app"; did you mean "apps"?"#);
    assert_snapshot!(refused_config("/namespaces/Default/Pod/x"),
        @r#"config.kubernetes.io/depends-on: line 1, column 13: namespace "Default" has 'D' in it; lower case letters, digits and "-" are allowed"#);
    assert_snapshot!(refused_config("/namespaces//Pod/x"),
        @r#"config.kubernetes.io/depends-on: line 1, column 13: namespace is empty; write one"#);
    assert_snapshot!(refused_config("/namespaces/default/Pod/"),
        @r#"config.kubernetes.io/depends-on: line 1, column 25: name is empty; write one"#);
    assert_snapshot!(refused_config("/namespaces/default//x"),
        @r#"config.kubernetes.io/depends-on: line 1, column 21: kind is empty; write one"#);
    assert_snapshot!(refused_config("/namespaces/default/Node/x"),
        @r#"config.kubernetes.io/depends-on: line 1, column 13: kind "Node" is not in any namespace; leave the namespace "default" out"#);
    assert_snapshot!(refused_config("apps/namespaces/default/Deployment/api:ready"),
        @r#"config.kubernetes.io/depends-on: line 1, column 39: name "api:ready" has ':' in it; lower case letters, digits, "-" and "." are allowed"#);
    assert_snapshot!(refused_config("apps/namespaces/default/Deployment/ api"),
        @r#"config.kubernetes.io/depends-on: line 1, column 36: name " api" has ' ' in it; lower case letters, digits, "-" and "." are allowed"#);
    assert_snapshot!(refused_config("Cert-Manager.io/namespaces/default/Certificate/x"),
        @r#"config.kubernetes.io/depends-on: line 1, column 1: group "Cert-Manager.io" has 'C' in it; lower case letters, digits, "-" and "." are allowed"#);
    assert_snapshot!(refused_config("cert-manager.io/namespaces/default/Cert_ificate/x"),
        @r#"config.kubernetes.io/depends-on: line 1, column 40: kind "Cert_ificate" has '_' in it; letters, digits and "-" are allowed"#);
    assert_snapshot!(refused_config(&"a".repeat(1 << 20)),
        @r#"config.kubernetes.io/depends-on: line 1, column 1: the list is 1048576 bytes long; at most 8192 are allowed; name fewer objects"#);
}
