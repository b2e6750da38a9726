import Type from 'typebox'
import { entry, section } from './section.ts'

const port = (env: string, description: string) =>
  Type.Integer({ minimum: 0, maximum: 65_535, env, description: `${description} 0 selects a free port.` })

export const Server = section(
  {
    host: Type.String({ default: '127.0.0.1', env: 'GATEHOUSE_HOST', description: 'Address to listen on.' }),
    port: Type.Integer({
      default: 8080,
      minimum: 0,
      maximum: 65_535,
      env: 'GATEHOUSE_PORT',
      description: 'Port of the API and its reference. 0 selects a free port.',
    }),
    public_url: Type.Optional(
      Type.String({
        pattern: '^https?://',
        env: 'GATEHOUSE_PUBLIC_URL',
        description: 'URL that callers use, if it differs from host and port. Error bodies link to it.',
      }),
    ),
    admin_port: Type.Optional(
      port(
        'GATEHOUSE_ADMIN_PORT',
        'Separate port for `/v1/organization` and `/api/policy-gateway`, which are then not on `port`.',
      ),
    ),
    admin_host: Type.Optional(
      Type.String({
        minLength: 1,
        env: 'GATEHOUSE_ADMIN_HOST',
        description: 'Address of `admin_port`. Default: `host`.',
      }),
    ),
    metrics_port: Type.Optional(
      port('GATEHOUSE_METRICS_PORT', 'Separate port for `/metrics`, which is then not on `port`.'),
    ),
    metrics_host: Type.Optional(
      Type.String({
        minLength: 1,
        env: 'GATEHOUSE_METRICS_HOST',
        description: 'Address of `metrics_port`. Default: `host`.',
      }),
    ),
    tls: Type.Optional(
      entry(
        {
          cert_file: Type.String({
            minLength: 1,
            env: 'GATEHOUSE_TLS_CERT_FILE',
            description:
              'PEM file with the certificate and the intermediate certificates. It is reloaded when it changes.',
          }),
          key_file: Type.String({
            minLength: 1,
            env: 'GATEHOUSE_TLS_KEY_FILE',
            description: 'PEM file with the private key.',
          }),
          min_version: Type.Enum(['TLSv1.2', 'TLSv1.3'], {
            default: 'TLSv1.2',
            description: 'Oldest TLS version that is accepted.',
          }),
          metrics: Type.Boolean({
            default: true,
            description: 'False: a port that serves only metrics uses plain HTTP.',
          }),
        },
        'HTTPS on every port. Without it the server uses plain HTTP, for a proxy that terminates TLS.',
      ),
    ),
    workers: Type.Unsafe<number | 'auto'>({
      type: ['integer', 'string'],
      minimum: 1,
      maximum: 256,
      pattern: '^auto$',
      default: 1,
      env: 'GATEHOUSE_WORKERS',
      description:
        'Processes that serve the ports together, each a node of its own. More than 1 needs `storage.database_url` and `storage.redis_url`. `auto`: one for each core with both of them, otherwise 1. See [the guide](guide/scale-out.md#workers-on-every-core).',
    }),
    trust_proxy: Type.Boolean({
      default: false,
      env: 'GATEHOUSE_TRUST_PROXY',
      description:
        'Take the client address from `X-Forwarded-For`. Use it only behind a proxy that sets the header or appends to it.',
    }),
    proxy_hops: Type.Integer({
      default: 1,
      minimum: 1,
      maximum: 10,
      description:
        'With `trust_proxy`: number of proxies that append to the header. Earlier entries are ignored, because callers can forge them.',
    }),
    request_timeout_ms: Type.Integer({
      default: 60_000,
      minimum: 100,
      description: 'Timeout for receiving the headers and the body of a request.',
    }),
    drain_delay_ms: Type.Integer({
      default: 0,
      env: 'GATEHOUSE_DRAIN_DELAY_MS',
      minimum: 0,
      maximum: 3_600_000,
      description:
        'How long the server accepts new requests after SIGTERM, while `/health/ready` already returns 503. Set it to the time that a load balancer needs to notice.',
    }),
    auth_failures_per_minute: Type.Integer({
      default: 100,
      minimum: 1,
      description:
        'Failed authentications allowed per client address and minute. Above that, invalid keys and tokens get 429 with `Retry-After` instead of 401; valid ones keep working.',
    }),
  },
  'The HTTP server.',
)

export const Storage = section(
  {
    data_dir: Type.String({
      default: './data',
      env: 'GATEHOUSE_DATA_DIR',
      description: 'Folder of the embedded database, its secret and the control socket.',
    }),
    database_url: Type.Optional(
      Type.String({
        pattern: '^postgres(ql)?://',
        env: 'DATABASE_URL',
        envFile: true,
        description:
          'URL of a PostgreSQL database. Needed for more than one node; `GATEHOUSE_SECRET` is then required.',
      }),
    ),
    database_timeout_ms: Type.Integer({
      default: 1000,
      minimum: 100,
      maximum: 60_000,
      description:
        'How long PostgreSQL may send nothing before it counts as unreachable. Charges and audit events then wait on the disk of the node. Statements that only run long are not aborted.',
    }),
    pool_size: Type.Integer({
      default: 10,
      minimum: 2,
      maximum: 200,
      description: 'Most connections of a node to PostgreSQL for requests and administration.',
    }),
    reports_url: Type.Optional(
      Type.String({
        pattern: '^postgres(ql)?://',
        env: 'GATEHOUSE_REPORTS_URL',
        envFile: true,
        description:
          'URL of a read replica of the PostgreSQL database. Logs, usage, traffic and other reports are read there, so they are as old as the replica; without it they are read from the database itself. A node works without its replica, except for reports.',
      }),
    ),
    reports_pool_size: Type.Integer({
      default: 4,
      minimum: 1,
      maximum: 100,
      description: 'Most connections of a node to PostgreSQL for reports, in addition to `pool_size`.',
    }),
    report_timeout_ms: Type.Integer({
      default: 10_000,
      minimum: 100,
      maximum: 600_000,
      description:
        'How long a report may take, and how long it may wait for others. Then its caller gets 503 `report_timeout`. With embedded storage, reports run one after the other.',
    }),
    redis_url: Type.Optional(
      Type.String({
        pattern: '^rediss?://|^rediss?[+]sentinel://[^/?]+/[^/?]+|^rediss?[+]cluster://[^/?]+/?$',
        env: 'REDIS_URL',
        envFile: true,
        description:
          'URL of Redis or Valkey, for limits that all nodes share: `redis://HOST`, `redis+sentinel://HOST,HOST/NAME` or `redis+cluster://HOST,HOST`, each with `rediss` for TLS. Without it each of several nodes enforces its share of every limit.',
      }),
    ),
    redis_timeout_ms: Type.Integer({
      default: 50,
      minimum: 1,
      maximum: 10_000,
      description: 'Timeout of a call to Redis. After it a node counts on its own.',
    }),
  },
  'Durable storage.',
)

export const Jwt = entry(
  {
    issuer: Type.String({ minLength: 1, description: 'Required `iss` of tokens.' }),
    audience: Type.String({ minLength: 1, description: 'Required `aud` of tokens.' }),
    type: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'Required `typ` of tokens, such as `at+jwt`. ID tokens of the same issuer are then rejected.',
      }),
    ),
    jwks_url: Type.Optional(
      Type.String({ pattern: '^https?://', description: 'URL of the public keys of the issuer.' }),
    ),
    secret: Type.Optional(
      Type.String({
        minLength: 32,
        description:
          'Shared HS256 secret, instead of `jwks_url`. Take it from a variable or a file: `${NAME}`, `${file:/path}`.',
      }),
    ),
    algorithms: Type.Array(Type.Enum(['EdDSA', 'ES256', 'PS256', 'RS256', 'HS256']), {
      default: ['EdDSA', 'ES256', 'PS256', 'RS256'],
      description: 'Accepted signature algorithms. With `secret` only HS256.',
    }),
    claims: section(
      {
        organization: Type.String({
          default: 'org_id',
          minLength: 1,
          description: 'The claim with the id of the organization (`org_…`). Some issuers reserve `org_id`.',
        }),
        project: Type.String({
          default: 'project_id',
          minLength: 1,
          description: 'The claim with the id of the project (`proj_…`).',
        }),
        scope: Type.String({
          default: 'scope',
          minLength: 1,
          description: 'The claim with permissions of the policy gateway: words with spaces between them, or a list.',
        }),
      },
      'Names of claims, if your identity provider cannot issue the default ones.',
    ),
  },
  'JWTs of your identity provider. Without this section tokens are rejected.',
)
