import Type from 'typebox'
import { entry, section } from './section.ts'

const port = (env: string, description: string) =>
  Type.Integer({ minimum: 0, maximum: 65_535, env, description: `${description} 0 takes a free one.` })

export const Server = section(
  {
    host: Type.String({ default: '127.0.0.1', env: 'GATEHOUSE_HOST', description: 'Address to listen on.' }),
    port: Type.Integer({
      default: 8080,
      minimum: 0,
      maximum: 65_535,
      env: 'GATEHOUSE_PORT',
      description: 'Port of the API and its reference. 0 takes a free one.',
    }),
    public_url: Type.Optional(
      Type.String({
        pattern: '^https?://',
        description: 'Address that callers use, where it differs from host and port; error bodies link to it.',
      }),
    ),
    admin_port: Type.Optional(
      port(
        'GATEHOUSE_ADMIN_PORT',
        'A port of its own for `/v1/organization` and `/api/policy-gateway`, with every key that they take. They are then not on `port`.',
      ),
    ),
    admin_host: Type.Optional(
      Type.String({
        minLength: 1,
        env: 'GATEHOUSE_ADMIN_HOST',
        description: 'Address of `admin_port`; `host` when left out.',
      }),
    ),
    metrics_port: Type.Optional(
      port('GATEHOUSE_METRICS_PORT', 'A port of its own for `/metrics`, which is then not on `port`.'),
    ),
    metrics_host: Type.Optional(
      Type.String({
        minLength: 1,
        env: 'GATEHOUSE_METRICS_HOST',
        description: 'Address of `metrics_port`; `host` when left out.',
      }),
    ),
    tls: Type.Optional(
      entry(
        {
          cert_file: Type.String({
            minLength: 1,
            env: 'GATEHOUSE_TLS_CERT_FILE',
            description:
              'A PEM file with the certificate and those between it and its authority. It is read again when it changes.',
          }),
          key_file: Type.String({
            minLength: 1,
            env: 'GATEHOUSE_TLS_KEY_FILE',
            description: 'A PEM file with its private key.',
          }),
          min_version: Type.Enum(['TLSv1.2', 'TLSv1.3'], {
            default: 'TLSv1.2',
            description: 'The oldest version that callers may speak.',
          }),
          metrics: Type.Boolean({
            default: true,
            description: 'False leaves a port that serves metrics alone in plain HTTP.',
          }),
        },
        'HTTPS on every port. Without it the server speaks plain HTTP, for a proxy that ends TLS.',
      ),
    ),
    trust_proxy: Type.Boolean({
      default: false,
      description: 'Believe `X-Forwarded-For`. Only behind a proxy that sets it or adds to it.',
    }),
    proxy_hops: Type.Integer({
      default: 1,
      minimum: 1,
      maximum: 10,
      description:
        'With `trust_proxy`: how many proxies add to the header one after the other. What stands before that, anybody may have written.',
    }),
    request_timeout_ms: Type.Integer({
      default: 60_000,
      minimum: 100,
      description: 'How long a caller may take to send its headers and body.',
    }),
    drain_delay_ms: Type.Integer({
      default: 0,
      minimum: 0,
      maximum: 3_600_000,
      description:
        'How long the server still answers new requests after SIGTERM, while `/health/ready` says 503 already. Set it to what a load balancer takes to notice.',
    }),
    auth_failures_per_minute: Type.Integer({
      default: 100,
      minimum: 1,
      description:
        'How many invalid keys and tokens an address may send in a minute before further invalid ones are answered with 429 and `Retry-After` instead of 401. Valid ones are accepted all the same.',
    }),
  },
  'The door.',
)

export const Storage = section(
  {
    data_dir: Type.String({
      default: './data',
      env: 'GATEHOUSE_DATA_DIR',
      description: 'Where the embedded database, its secret and the control socket live.',
    }),
    database_url: Type.Optional(
      Type.String({
        pattern: '^postgres(ql)?://',
        env: 'DATABASE_URL',
        envFile: true,
        description: 'A PostgreSQL address. Set it to run more than one node; `GATEHOUSE_SECRET` is then required.',
      }),
    ),
    database_timeout_ms: Type.Integer({
      default: 1000,
      minimum: 100,
      maximum: 60_000,
      description:
        'How long PostgreSQL may leave a node without any answer before it counts as out of reach: charges and audit events then wait on the node’s own disk. Statements that merely run long are not cut off by it.',
    }),
    redis_url: Type.Optional(
      Type.String({
        pattern: '^rediss?://',
        env: 'REDIS_URL',
        envFile: true,
        description:
          'A Redis or Valkey address, for limits that all nodes share. Without it each node counts for itself, and of several each has its share.',
      }),
    ),
    redis_timeout_ms: Type.Integer({
      default: 50,
      minimum: 1,
      maximum: 10_000,
      description: 'How long Redis may take to answer before a node counts by itself.',
    }),
  },
  'Where everything that must last is kept.',
)

export const Jwt = entry(
  {
    issuer: Type.String({ minLength: 1, description: 'The `iss` that tokens must carry.' }),
    audience: Type.String({ minLength: 1, description: 'The `aud` that tokens must carry.' }),
    type: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'The `typ` that tokens must carry, such as `at+jwt`: ID tokens of the same issuer are then refused.',
      }),
    ),
    jwks_url: Type.Optional(Type.String({ pattern: '^https?://', description: 'Where the issuer’s public keys are.' })),
    secret: Type.Optional(
      Type.String({
        minLength: 32,
        description:
          'A shared HS256 secret, instead of `jwks_url`; take it from a variable or a file: `${NAME}`, `${file:/path}`.',
      }),
    ),
    algorithms: Type.Array(Type.Enum(['EdDSA', 'ES256', 'PS256', 'RS256', 'HS256']), {
      default: ['EdDSA', 'ES256', 'PS256', 'RS256'],
      description: 'Signatures that are believed. With `secret`, HS256 alone.',
    }),
  },
  'Tokens of your identity provider. Off unless given.',
)
