"""Settings of a django-oauth-toolkit server for tests, on the loopback address; all behaviour is the toolkit's own."""

import os

STATE = os.environ["STATE_DIR"]
SECRET_KEY = "for tests on the loopback address only, and not a secret"
ALLOWED_HOSTS = ["127.0.0.1"]
ROOT_URLCONF = "authserver"
USE_TZ = True
LOGIN_URL = "/admin/login/"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "oauth2_provider",
]
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": os.path.join(STATE, "db.sqlite3"),
        # IMMEDIATE locks when a transaction begins, which is what select_for_update() does on other databases.
        "OPTIONS": {"transaction_mode": "IMMEDIATE", "timeout": 30, "init_command": "PRAGMA journal_mode=WAL;"},
    }
}
OAUTH2_PROVIDER = {
    "SCOPES": {"read": "Reading", "write": "Writing"},
    "DEFAULT_SCOPES": ["read"],
    "ACCESS_TOKEN_EXPIRE_SECONDS": int(os.environ.get("ACCESS_TTL", "60")),
    "REFRESH_TOKEN_EXPIRE_SECONDS": 86400,
    "ROTATE_REFRESH_TOKEN": True,
    "REFRESH_TOKEN_REUSE_PROTECTION": True,
    "REFRESH_TOKEN_GRACE_PERIOD_SECONDS": int(os.environ.get("GRACE", "0")),
    "PKCE_REQUIRED": True,
    "OAUTH_DEVICE_VERIFICATION_URI": "http://127.0.0.1/o/device/",
    # Plain http on the loopback address is what native apps use (RFC 8252, section 7.3).
    "ALLOWED_REDIRECT_URI_SCHEMES": ["http", "https"],
}


def __getattr__(name):
    # Both need the apps to be configured, which they are not while the settings are read.
    if name == "urlpatterns":
        from django.contrib import admin
        from django.http import HttpResponse, JsonResponse
        from django.urls import include, path
        from oauth2_provider.decorators import protected_resource_metadata

        # Unlike protected_resource, which answers 403 to a token that is no good, it does as RFC 6750 has it.
        resource = protected_resource_metadata(scopes=["read"])(lambda request: JsonResponse({"resource": "served"}))
        return [
            path("healthz", lambda request: HttpResponse("ok")),
            path("admin/", admin.site.urls),
            path("o/", include("oauth2_provider.urls", namespace="oauth2_provider")),
            path("resource", resource),
        ]
    if name == "application":
        from django.core.wsgi import get_wsgi_application

        return get_wsgi_application()
    raise AttributeError(name)
