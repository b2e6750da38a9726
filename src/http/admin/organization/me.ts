import Type, { type Static } from 'typebox'
import { toUnixSeconds } from '../../../base/clock.ts'
import { permissions } from '../../../domain/identity/permissions.ts'
import type { Administrator } from '../../../domain/identity/principal.ts'
import { text, texts } from '../../described.ts'
import { orNull, unixTime } from '../../resources/fields.ts'
import { organizationExample, OrganizationObject, presentOrganization } from '../../resources/organization.ts'

/** What the installation can do beside its API. */
export type Features = {
  /** Texts of prompts and answers are kept. */
  readonly content: boolean
  /** Backtests have texts: those that are kept, or the replay sample. */
  readonly replay: boolean
  /** A model judges rules in plain language: that of the configuration, or an active one of the organization. */
  readonly judge: boolean
  /** Administrators may change credits, plans and limits. */
  readonly credits: boolean
  /** Administrators may see the state of upstreams, the nodes and the settings. */
  readonly system: boolean
  /** People sign in to the console through an identity provider. */
  readonly oidc: boolean
}

const example = {
  object: 'organization.me',
  actor: { type: 'admin_key', id: 'adk_01k9z8y7x6w5v4t3s2r1q0p9n8', name: 'ops' },
  organization: organizationExample,
  permissions: ['*'],
  expires_at: null,
  features: { content: false, replay: false, judge: false, credits: true, system: true, oidc: false },
  tags: ['team'],
  inference_url: null,
  version: '0.1.0',
  owners: ['Mara Lindqvist'],
}

export const MeObject = Type.Object(
  {
    object: Type.Literal('organization.me'),
    actor: Type.Object(
      {
        type: Type.Enum(['admin_key', 'console', 'member', 'operator'], {
          description:
            'A key, a session of the console that acts as a key, a member who is signed in, or the operator on the machine.',
        }),
        id: text('The id of the key or member; a session acts as its key.'),
        name: text('The name of the key or member.'),
      },
      { description: 'Who sent the request.' },
    ),
    organization: Type.Object(OrganizationObject.properties, { description: 'The organization of the credential.' }),
    permissions: Type.Array(Type.Enum([...permissions]), { description: 'What the credential may do.' }),
    expires_at: orNull(unixTime('When the key expires.'), 'When the key expires; null: never.'),
    features: Type.Object(
      {
        content: Type.Boolean({ description: 'Whether texts of prompts and responses are kept.' }),
        replay: Type.Boolean({
          description: 'Whether backtests have texts: those that are kept, or the replay sample.',
        }),
        judge: Type.Boolean({
          description:
            'Whether a model judges rules in plain language: that of the configuration, or an active judge of the organization.',
        }),
        credits: Type.Boolean({
          description: 'Whether administrators with `credits:write` may change credits, plans and limits.',
        }),
        system: Type.Boolean({
          description:
            'Whether administrators with `system:read` see the state of upstreams, the nodes and the settings.',
        }),
        oidc: Type.Boolean({
          description: 'Whether members can sign in to the console through an identity provider.',
        }),
      },
      { description: 'What is configured.' },
    ),
    tags: texts('Names of the tags that requests can have: the setting `budgets.tags`.'),
    inference_url: orNull(Type.String(), 'Where models are called; null if it is the address of this request.'),
    version: text('The version of the server.'),
    owners: texts('Names of members with the role owner, whom a caller can ask for a permission; three at most.'),
  },
  { title: 'Me', examples: [example] },
)

type Context = {
  readonly name: string | undefined
  readonly features: Features
  /** Names of the tags that are read. */
  readonly tags: readonly string[]
  readonly inferenceUrl: string | null
  readonly version: string
  readonly owners: readonly string[]
}

export const presentMe = (
  { kind, id, organization, permissions: own, expiresAtMs }: Administrator,
  { name, features, tags, inferenceUrl, version, owners }: Context,
): Static<typeof MeObject> => ({
  object: 'organization.me',
  actor: { type: kind, id, name: name ?? id },
  organization: presentOrganization(organization),
  permissions: [...own],
  expires_at: expiresAtMs === null ? null : toUnixSeconds(expiresAtMs),
  features: { ...features },
  tags: [...tags],
  inference_url: inferenceUrl,
  version,
  owners: [...owners],
})
