import Type, { type TProperties, type TSchema } from 'typebox'
import { windowNames } from '../../../domain/gateway-config/complete.ts'
import { defaultConfiguration, quotaWindows, responsePatterns } from '../../../domain/gateway-config/configuration.ts'
import { mostPatterns, mostTermCharacters } from '../../../domain/gateway-config/terms.ts'
import { categories } from '../../../domain/moderation/categories.ts'
import { listOf, listQuery, pageExample } from '../../resources/list.ts'
import { isoTime, orNull } from '../../resources/fields.ts'

const strict = { additionalProperties: false }
const whole = <P extends TProperties>(properties: P) => Type.Object(properties, strict)
const partial = <P extends TProperties>(properties: P) => Type.Partial(whole(properties), strict)
const flag = (description: string) => Type.Boolean({ description })
const list = <S extends TSchema>(item: S, maxItems: number, description: string) =>
  Type.Array(item, { maxItems, description })
const line = (maxLength: number, description: string) => orNull(Type.String({ maxLength }), description)
const label = (maxLength: number) => Type.String({ minLength: 1, maxLength })

const terms = (description: string) =>
  list(
    label(500),
    2_000,
    `${description} Case, accents and look-alike letters make no difference, and whole words are meant; \`/…/\` or \`/…/i\` is a regular expression (RE2). At most ${mostPatterns} expressions, and ${mostTermCharacters} characters in both lists together.`,
  )

const pattern = (description: string) => orNull(Type.Enum([...responsePatterns]), description)
const amount = (description: string) => Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description })
const amounts = {
  requests: amount('Requests in each window; 0 means no limit.'),
  tokens: amount('Tokens in each window; 0 means no limit.'),
}
const windowDescription = 'Calendar windows in UTC.'
const quota = { ...amounts, window: Type.Enum([...quotaWindows], { description: windowDescription }) }
const givenQuota = {
  ...amounts,
  window: Type.Enum([...windowNames], { description: windowDescription }),
}

const own = {
  policy_id: Type.String({
    minLength: 1,
    maxLength: 200,
    description: `The name under which decisions are told; \`${defaultConfiguration.policy_id}\` unless another is given.`,
  }),
  name: line(200, 'What it is called.'),
  owner: line(200, 'Whom to ask about it.'),
  description: line(2_000, 'What it is for.'),
}
const rules = {
  allowlist: terms('What requests must be about: one that holds none of these terms is refused. Empty: anything.'),
  denylist: terms('What neither requests nor answers may hold.'),
  redact: flag('Personal data is replaced by placeholders such as `[EMAIL_1]`, in requests and answers.'),
  rewrite_instead_of_refuse: flag('A refusal by the denylist or a category becomes a rewrite.'),
  response_pattern: pattern(
    'What becomes of a text that the denylist or a flagged category hits. Null: what `refusal_replacement` says, else a refusal.',
  ),
  reason_codes: list(
    label(64),
    100,
    'Own reason codes, such as `REFUSE_LEGAL`: the first one that begins with a decision is given with it.',
  ),
  flagged_categories: list(
    Type.Enum([...categories]),
    20,
    'Categories to act on. `self-harm` and `sexual/minors` are always refused, named or not.',
  ),
}
const controls = {
  project_keys: flag('For your records: every request needs a key or a token, whatever stands here.'),
  user_quotas: flag('Whether `user_quota` holds.'),
  audit_logs: flag(
    'Whether requests are refused while their events cannot be written to the audit log. They are logged anyhow.',
  ),
  data_classification: orNull(label(64), 'A label that is copied into audit events.'),
}
const share = {
  enabled: flag('Whether it is on.'),
  sample_percent: Type.Number({
    minimum: 0,
    maximum: 100,
    description: 'The share of subjects, always the same ones.',
  }),
  targets: list(label(200), 100, 'Labels sent in `X-Policy-Target`. Empty: all requests.'),
}
const rollbackOnSpike = flag('Takes the configuration out of force when refusals spike; the next save ends that.')
const replacement = {
  mode: pattern('What is done in place of a refusal, where `rules.response_pattern` does not say.'),
  escalation_path: line(500, 'Whom to turn to; told with an escalation.'),
}

/** The configuration as it is answered: every field is there. */
const Configuration = whole({
  ...own,
  rules: whole(rules),
  org_controls: whole({ ...controls, user_quota: whole(quota), project_quota: whole(quota) }),
  rollout: whole({ shadow: whole(share), canary: whole(share), rollback_on_spike: rollbackOnSpike }),
  refusal_replacement: whole(replacement),
})

/** The same as it is sent: what is left out has its default. */
const givenFields = {
  ...own,
  rules: partial(rules),
  org_controls: partial({ ...controls, user_quota: partial(givenQuota), project_quota: partial(givenQuota) }),
  rollout: partial({ shadow: partial(share), canary: partial(share), rollback_on_spike: rollbackOnSpike }),
  refusal_replacement: partial(replacement),
}
export const Given = partial(givenFields)

const given = {
  policy_id: 'house-rules',
  name: 'House rules',
  rules: { denylist: ['project x', '/\\bACME-\\d{4}\\b/'], redact: true, flagged_categories: ['hate', 'illicit'] },
  rollout: { canary: { enabled: true, sample_percent: 10 } },
}

/** A configuration, or one wrapped as it is answered. */
export const SaveBody = Type.Partial(whole({ ...givenFields, config: Given }), { ...strict, examples: [given] })

const example = {
  ...defaultConfiguration,
  ...given,
  rules: { ...defaultConfiguration.rules, ...given.rules },
  rollout: {
    ...defaultConfiguration.rollout,
    canary: { ...defaultConfiguration.rollout.canary, ...given.rollout.canary },
  },
}

export const SavedAnswer = Type.Object(
  {
    config: Configuration,
    version: Type.Integer({ description: 'Counts the saves; 0 before the first.' }),
    rolled_back: Type.Boolean({ description: 'Out of force since refusals spiked; the next save ends that.' }),
    created_at: orNull(isoTime('When the first configuration was saved; null before that.')),
    updated_at: orNull(isoTime('When this one was saved.')),
  },
  {
    examples: [
      {
        config: example,
        version: 1,
        rolled_back: false,
        created_at: '2026-01-01T00:00:00.000Z',
        updated_at: '2026-01-01T00:00:00.000Z',
      },
    ],
  },
)

export const VersionQuery = listQuery({})

const versionExample = {
  id: 'gwcv_01k9z8y7x6w5v4t3s2r1q0p9n8',
  object: 'policy_gateway.config_version',
  version: 1,
  config: example,
  created_at: '2026-01-01T00:00:00.000Z',
}

export const VersionList = listOf(
  Type.Object({
    id: Type.String(),
    object: Type.Literal('policy_gateway.config_version'),
    version: Type.Integer(),
    config: Configuration,
    created_at: isoTime('When it was saved.'),
  }),
  pageExample(versionExample),
)
