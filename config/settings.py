"""Django's settings of Layby: one set for every process and every installation; what differs comes from `config.env`.

No debug mode: errors are in the log, pages never show a trace. Every time-out and bound here has its reason beside it;
RELIABILITY's section 8 is where most of them come from.
"""

import logging
from typing import Any

from csp.constants import NONCE

from config import env
from config.logs import logging_config

BASE_DIR = env.BASE_DIR
DATA = env.DATA
DEBUG = False
SECRET_KEY = env.secret_key()
PUBLIC_URL = env.PUBLIC_URL.geturl()
SECURE = env.PUBLIC_URL.scheme == "https"

_public_host = env.PUBLIC_URL.hostname or ""
LOOPBACK = ["localhost", "127.0.0.1", "[::1]"]
ALLOWED_HOSTS = [f"[{_public_host}]" if ":" in _public_host else _public_host, *LOOPBACK]
CSRF_TRUSTED_ORIGINS = [PUBLIC_URL]

INSTALLED_APPS = [
    "daphne",
    "config.apps.ComposedConfig",
    "workspaces",
    "sessions.apps.SessionsConfig",
    "approvals",
    "triggers",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "channels",
    "csp",
    "django_celery_beat",
    "django_htmx",
    "django_structlog",
    "ninja",
    "pghistory",
    "pgtrigger",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "config.middleware.BodyLimitMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_structlog.middlewares.RequestMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "config.middleware.ErrorMiddleware",
]

ROOT_URLCONF = "config.urls"
ASGI_APPLICATION = "config.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "workspaces.context.console",
                "sessions.views.frame.rail",
            ],
        },
    }
]

# --- Postgres ---------------------------------------------------------------------------------------------------------

STATEMENT_TIMEOUT_MS = 30_000
LOCK_TIMEOUT_MS = 10_000
IDLE_IN_TRANSACTION_TIMEOUT_MS = 60_000
POOL_MAX = 8


def _database() -> dict[str, Any]:
    parts: dict[str, Any] = env.database()
    given = parts["OPTIONS"].pop("options", "")
    parts["OPTIONS"] |= {
        # What a connection has run twice is parsed no more (a proxy that pools transactions must know of it).
        "prepare_threshold": 2,
        "connect_timeout": int(parts["OPTIONS"].get("connect_timeout", 5)),
        "options": (
            f"{given} -c statement_timeout={STATEMENT_TIMEOUT_MS} -c lock_timeout={LOCK_TIMEOUT_MS}"
            f" -c idle_in_transaction_session_timeout={IDLE_IN_TRANSACTION_TIMEOUT_MS}"
        ).strip(),
        # One pool per process. Idle connections go after a minute, so that waiting sessions hold none.
        "pool": {"min_size": 0, "max_size": POOL_MAX, "timeout": 5, "max_idle": 60, "reconnect_timeout": 5},
    }
    return parts


DATABASES: dict[str, dict[str, Any]] = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        **_database(),
        "ATOMIC_REQUESTS": False,
        "CONN_MAX_AGE": 0,  # the pool keeps them; Django refuses both
        "CONN_HEALTH_CHECKS": True,  # without: 8 of 10 statements fail after a restart of the database
        "TEST": {"NAME": "test_layby"},
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
MIGRATION_MODULES: dict[str, str] = {}

# --- Valkey: cache, live frames, hints --------------------------------------------------------------------------------

# A request must not wait for a broker that is dead (connect) or frozen (answer). Those who wait on purpose get longer:
# the channel layer blocks for 5 s at a time, a worker's consumer sets its own (config/celery.py).
REDIS_CONNECT_SECONDS = 0.5
REDIS_ANSWER_SECONDS = 0.8
REDIS_WAITING_ANSWER_SECONDS = 10

CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": env.redis(2),
        "KEY_PREFIX": "layby",
        "OPTIONS": {"socket_connect_timeout": REDIS_CONNECT_SECONDS, "socket_timeout": REDIS_ANSWER_SECONDS},
    }
}

CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.core.RedisChannelLayer",
        "CONFIG": {
            "hosts": [
                {
                    "address": env.redis(1),
                    "socket_connect_timeout": REDIS_CONNECT_SECONDS,
                    "socket_timeout": REDIS_WAITING_ANSWER_SECONDS,
                }
            ],
            "capacity": 100,
            "expiry": 60,
            "prefix": "layby",
        },
    }
}

CELERY_BROKER_URL = env.broker()
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 600,  # hints only: a redelivered one changes nothing
    "socket_connect_timeout": REDIS_CONNECT_SECONDS,
    "socket_timeout": REDIS_ANSWER_SECONDS,
    "socket_keepalive": True,
    "max_retries": 0,
}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # else the consumer gives up after 100 tries
CELERY_TASK_PUBLISH_RETRY = False  # rows are the truth; the sweep finds what a lost hint didn't say
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_DEFAULT_QUEUE = "layby"
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_REDIRECT_STDOUTS = False
CELERY_WORKER_SEND_TASK_EVENTS = False
CELERY_WORKER_ENABLE_REMOTE_CONTROL = True
CELERY_BEAT_SCHEDULER = "django_celery_beat.schedulers:DatabaseScheduler"
CELERY_TIMEZONE = "UTC"
CELERY_ENABLE_UTC = True
DJANGO_CELERY_BEAT_TZ_AWARE = True

# --- People -----------------------------------------------------------------------------------------------------------

AUTH_USER_MODEL = "workspaces.User"
AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
ACCOUNT_ADAPTER = "config.accounts.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "email", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_LOGOUT_REDIRECT_URL = "/accounts/login/"
ACCOUNT_PREVENT_ENUMERATION = True
ACCOUNT_SESSION_REMEMBER = None
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_TOTP_ISSUER = "Layby"
# With plain http on the loopback a browser still allows passkeys; allauth has to be told.
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = not SECURE

# --- Bodies, cookies, headers -----------------------------------------------------------------------------------------

UPLOAD_MAX_BYTES = 25 * 1024 * 1024
DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 1000
DATA_UPLOAD_MAX_NUMBER_FILES = 50
FILE_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024

SESSION_COOKIE_SECURE = SECURE
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_NAME = "layby_session"
CSRF_COOKIE_SECURE = SECURE
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_NAME = "layby_csrf"
CSRF_FAILURE_VIEW = "config.errors.csrf_failure"
SECURE_SSL_REDIRECT = SECURE
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^metrics$"]  # asked from inside, without the proxy
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if SECURE else None
SECURE_HSTS_SECONDS = 365 * 86400 if SECURE else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE
SECURE_HSTS_PRELOAD = SECURE
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'", NONCE],  # a nonce only where a page uses one (the admin's form of clock tasks)
        "style-src": ["'self'"],
        "img-src": ["'self'"],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        "form-action": ["'self'"],
        "base-uri": ["'none'"],
        "frame-ancestors": ["'none'"],
    }
}

# --- Static files, time, language -------------------------------------------------------------------------------------

STATIC_URL = "/static/"
STATIC_ROOT = DATA / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
USE_TZ = True
TIME_ZONE = "UTC"
USE_I18N = False
LANGUAGE_CODE = "en"

LOGGING = logging_config(env.LOG_LEVEL, env.LOG_FORMAT)
DJANGO_STRUCTLOG_STATUS_START_LOG_LEVEL = logging.DEBUG  # one line per request is enough

# --- Layby: what may be plugged in, by dotted path (README: "Where to put what") ------------------------------------

DRIVERS = {"agent": "sessions.drivers.agent.AgentDriver"}
GATES: list[str] = []
TOOLSETS = {"system": "sessions.tools.system.toolset", "workspace": "sessions.tools.workspace.toolset"}
WAKERS: list[str] = []
NOTIFIERS: list[str] = []
MODEL_PROVIDERS = {
    "openai": "sessions.llm.request.openai_model",
    "anthropic": "sessions.llm.request.anthropic_model",
    "scripted": "sessions.llm.scripted.scripted_model",
}
# Celery bootsteps of a worker process: heartbeat, timekeeper and the like.
WORKER_STEPS = ["sessions.bootsteps.Threads"]
# Called on the first start on an empty database, with a writer of lines and no_demo, in one transaction.
FIRST_RUN = ["workspaces.operations.first_run", "sessions.operations.demo.first_run"]
# Where `/` leads in the person's first workspace.
WORKSPACE_HOME = "sessions:list"
# What each new workspace has, made in the transaction that makes it: called with the actor and the workspace.
WORKSPACE_SEEDS = ["sessions.operations.providers.seed"]
# Asked by `up` until each returns "" (ready) instead of what it waits for.
READY_CHECKS = ["config.launch.ready.login_page", "config.launch.ready.worker_heartbeat"]

ADMIN_PASSWORD = env.ADMIN_PASSWORD
METRICS_TOKEN = env.METRICS_TOKEN
YIELD_TIMEOUT_CAP_SECONDS = env.YIELD_TIMEOUT_CAP_SECONDS
LEASE_SECONDS = env.LEASE_SECONDS
HEARTBEAT_SECONDS = env.HEARTBEAT_SECONDS
SLOTS = env.SLOTS
STOP_SECONDS = env.STOP_SECONDS
