"""An authorization server made of the library idpyoidc, which has no program of its own.

server.py PORT

It signs the one user in without a page, and writes its keys into the present folder.
"""
import json
import sys
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from idpyoidc.server import Server
from idpyoidc.server.configure import OPConfiguration
from idpyoidc.server.oauth2.add_on import dpop

port = int(sys.argv[1])
base = f"http://127.0.0.1:{port}"
library = "idpyoidc.server."


def endpoint(path, name, methods, **more):
    methods = {name: {"class": library + "client_authn." + kind} for name, kind in methods.items()}
    return {"path": path, "class": library + name, "kwargs": {"client_authn_method": methods, **more}}


def keys(*uses, **more):
    return {"key_defs": [{"type": "OCT", "use": ["enc"], "kid": use, **more} for use in uses]}


def jwt(lifetime):
    return {"class": library + "token.jwt_token.JWTToken", "kwargs": {"lifetime": lifetime, "aud": [base]}}


public = {"public": "PublicAuthn"}
mints = ["access_token", "refresh_token"]
configuration = OPConfiguration({
    "issuer": base,
    "base_url": base,
    "key_conf": {
        "private_path": "private/jwks.json",
        "uri_path": "jwks.json",
        "key_defs": [{"type": "RSA", "use": ["sig"]}, {"type": "EC", "crv": "P-256", "use": ["sig"]}],
    },
    "session_params": {"encrypter": {"kwargs": {"keys": keys("password", "salt"), "iterations": 1}}},
    "token_handler_args": {
        "jwks_def": {"private_path": "private/token_jwks.json", **keys("code", "token", "refresh", bytes="24")},
        "code": {"kwargs": {"lifetime": 600}},
        "token": jwt(600),
        "refresh": jwt(36000),
        "id_token": {"class": library + "token.id_token.IDToken", "kwargs": {}},
    },
    "endpoint": {
        "provider_config": endpoint(
            ".well-known/openid-configuration", "oidc.provider_config.ProviderConfiguration", {}),
        "authorization": endpoint(
            "authorization", "oauth2.authorization.Authorization",
            {"pushed_authz": "PushedAuthorization", "none": "NoneAuthn"}, response_types_supported=["code"]),
        "pushed_authorization": endpoint(
            "pushed_authorization", "oauth2.pushed_authorization.PushedAuthorization", public),
        "token": endpoint("token", "oidc.token.Token", public, revoke_refresh_on_issue=True),
    },
    "add_ons": {
        "pkce": {
            "function": library + "oauth2.add_on.pkce.add_support",
            "kwargs": {"essential": True, "code_challenge_method": "S256"},
        },
    },
    "authentication": {"user": {
        "acr": "urn:oasis:names:tc:SAML:2.0:ac:classes:unspecified",
        "class": library + "user_authn.user.NoAuthn",
        "kwargs": {"user": "alice"},
    }},
    "authz": {"class": library + "authz.AuthzHandling", "kwargs": {"grant_config": {
        "usage_rules": {
            "authorization_code": {"supports_minting": mints + ["id_token"], "max_usage": 1, "expires_in": 120},
            "access_token": {"expires_in": 600},
            "refresh_token": {"supports_minting": mints, "expires_in": 36000},
        },
        "expires_in": 43200,
    }}},
    "userinfo": {"class": library + "user_info.UserInfo", "kwargs": {"db": {"alice": {"sub": "alice"}}}},
    "cookie_handler": {"class": library + "cookie_handler.CookieHandler", "kwargs": {"keys": keys("enc", "sig")}},
    "template_dir": ".",
}, base_path=".", domain="127.0.0.1", port=port)
server = Server(configuration)
scopes = ["openid", "offline_access"]
server.context.cdb["app"] = {
    "client_id": "app",
    "redirect_uris": [("http://127.0.0.1:1/callback", {})],
    "token_endpoint_auth_method": "none",
    "application_type": "native",
    "response_types_supported": ["code"],
    "grant_types_supported": ["authorization_code", "refresh_token"],
    "allowed_scopes": scopes,
    "scope": scopes,
    "dpop_jkt": {},
}


def check_proof(request, client_id, context, **arguments):
    """The library has this check, and its add-on installs another one, for resources. Here a request may have no proof."""
    if "dpop" not in arguments["http_info"]["headers"]:
        return request
    return dpop.token_post_parse_request(request, client_id, context, **arguments)


server.get_endpoint("token").post_parse_request.append(check_proof)
# What the add-on does beside that.
server.context.add_on["dpop"] = {"algs_supported": ["ES256"]}
server.context.provider_info["dpop_signing_alg_values_supported"] = ["ES256"]
# It is not made for several threads.
lock = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.answer("")

    def do_POST(self):
        self.answer(self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode())

    def answer(self, body):
        path, _, query = self.path.partition("?")
        found = [item for item in server.endpoint.items() if path == "/" + item[1].endpoint_path]
        if not found:
            return self.reply(404, {})
        headers = {name.lower(): value for name, value in self.headers.items()}
        info = {"headers": headers, "method": self.command, "url": base + self.path, "cookie": []}
        try:
            with lock:
                self.reply(*self.outcome(*found[0], dict(urllib.parse.parse_qsl(body or query)), info))
        except Exception as error:
            self.reply(500, {"error": "server_error", "error_description": f"{type(error).__name__}: {error}"})

    def outcome(self, name, item, request, info):
        parsed = item.parse_request(request, http_info=info)
        if "error" in parsed:
            return 400, parsed.to_dict()
        made = item.process_request(parsed, http_info=info)
        if "redirect_location" in made:
            return 302, {}, made["redirect_location"]
        if "error" in made:
            return 400, made if isinstance(made, dict) else made.to_dict()
        if "http_response" in made:
            return 201 if name == "pushed_authorization" else 200, made["http_response"]
        response = item.do_response(request=parsed, **made)["response"]
        if isinstance(response, str) and response.startswith("http"):
            return 302, {}, response
        return 200, response

    def reply(self, status, body, location=None):
        text = (body if isinstance(body, str) else json.dumps(body, default=str)).encode()
        self.send_response(status)
        if location:
            self.send_header("Location", location)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
