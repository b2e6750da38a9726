import Type from 'typebox'
import { entry, section } from './section.ts'

const Oidc = entry(
  {
    issuer: Type.String({
      pattern: '^(https://|http://(localhost|127\\.0\\.0\\.1|\\[::1\\])(:|/|$))',
      description:
        'URL of the issuer, whose `/.well-known/openid-configuration` is read at the first sign-in. HTTPS, or plain HTTP on this machine.',
    }),
    client_id: Type.String({ minLength: 1, description: 'The client that is registered for the console.' }),
    client_secret: Type.Optional(
      Type.String({
        minLength: 1,
        env: 'GATEHOUSE_OIDC_CLIENT_SECRET',
        envFile: true,
        description: 'Secret of the client. Without it the client is a public one, which only PKCE protects.',
      }),
    ),
    name: Type.String({
      default: 'single sign-on',
      minLength: 1,
      maxLength: 60,
      description: 'The name of the identity provider on the button of the sign-in page.',
    }),
    scopes: Type.Array(Type.String({ minLength: 1 }), {
      default: ['openid', 'profile', 'email'],
      minItems: 1,
      description:
        'Scopes that are requested; `openid` is required. Some issuers send groups only with a scope `groups`.',
    }),
    groups_claim: Type.String({
      default: 'groups',
      minLength: 1,
      description: 'The claim with the groups of a person, in the ID token or at the user info endpoint.',
    }),
    roles: Type.Record(
      Type.String(),
      Type.Enum(['owner', 'publisher', 'author', 'developer', 'billing', 'auditor', 'reviewer']),
      {
        default: {},
        description:
          'The role of each group. A person in several groups gets the highest. A person without any is refused, unless they are an invited member.',
      },
    ),
    organization: Type.Optional(
      Type.String({
        pattern: '^org_',
        description: 'The organization that people sign in to. Needed only if there is more than one.',
      }),
    ),
    trust_email: Type.Boolean({
      default: false,
      description:
        'Whether an address counts for invitations although the issuer does not say that it is verified (`email_verified`). Set it to true only if people cannot choose their address at the issuer.',
    }),
    redirect_uri: Type.Optional(
      Type.String({
        pattern: '^https?://.+/console/api/oidc/callback$',
        description:
          'The callback that is registered at the issuer. Default: `/console/api/oidc/callback` below `server.public_url`, or below the address that the browser uses.',
      }),
    ),
  },
  'Sign-in to the console through an identity provider (OpenID Connect). See [the guide](guide/console.md#sign-in-through-an-identity-provider).',
)

export const Console = section(
  {
    enabled: Type.Boolean({
      default: true,
      env: 'GATEHOUSE_CONSOLE',
      description: 'Whether the web console is served at `/console/`, where administration is served.',
    }),
    oidc: Type.Optional(Oidc),
  },
  'The web console.',
)
