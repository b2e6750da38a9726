/** The gateway configuration in requests and responses of the policy gateway, and in evaluations of the administration API. */
import Type, { type TProperties, type TSchema } from 'typebox'
import { windowNames } from '../../domain/gateway-config/complete.ts'
import {
  defaultConfiguration,
  injectionModes,
  quotaWindows,
  responsePatterns,
} from '../../domain/gateway-config/configuration.ts'
import { mostPatterns, mostTermCharacters } from '../../domain/gateway-config/terms.ts'
import { categories } from '../../domain/scan/classify/categories.ts'
import { orNull } from './fields.ts'

const strict = { additionalProperties: false }
type Part = { readonly title: string; readonly description: string }
const whole = <P extends TProperties>(properties: P, part: Part) => Type.Object(properties, { ...strict, ...part })
const partial = <P extends TProperties>(properties: P, { title, description }: Part) =>
  Type.Partial(Type.Object(properties), { ...strict, title: `${title}Input`, description })
const flag = (description: string) => Type.Boolean({ description })
const list = <S extends TSchema>(item: S, maxItems: number, description: string) =>
  Type.Array(item, { maxItems, description })
const line = (maxLength: number, description: string) => orNull(Type.String({ maxLength }), description)
const label = (maxLength: number) => Type.String({ minLength: 1, maxLength })

const terms = (description: string) =>
  list(
    label(500),
    2_000,
    `${description} Matching ignores case, accents and homoglyphs, and matches whole words; \`/…/\` or \`/…/i\` is a regular expression (RE2). At most ${mostPatterns} expressions, and ${mostTermCharacters} characters in both lists together.`,
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
    description: `The name of the configuration in decisions. Default: \`${defaultConfiguration.policy_id}\`.`,
  }),
  name: line(200, 'Display name.'),
  owner: line(200, 'The person or team responsible for it.'),
  description: line(2_000, 'Purpose of the configuration.'),
}
const injectionMode = (description: string) => Type.Enum([...injectionModes], { description })
const promptInjection = {
  tool_results: injectionMode('What tools gave: messages with results of tools.'),
  documents: injectionMode('Files and search results that a user message has attached.'),
  user_text: injectionMode('The text of user messages.'),
}
const rules = {
  allowlist: terms('Requests that contain none of these terms are denied. Empty: no restriction.'),
  denylist: terms('Terms that neither requests nor responses may contain.'),
  redact: flag('Personal data is replaced by placeholders such as `[EMAIL_1]`, in requests and responses.'),
  rewrite_instead_of_refuse: flag('Rewrites a text that the denylist or a category matches, instead of denying it.'),
  response_pattern: pattern(
    'What happens to a text that the denylist or a flagged category matches. Null: `refusal_replacement.mode`, otherwise `refuse`.',
  ),
  reason_codes: list(
    label(64),
    100,
    'Custom reason codes, such as `REFUSE_LEGAL`. The first one that starts with the decision is reported with it.',
  ),
  flagged_categories: list(
    Type.Enum([...categories]),
    20,
    'Categories to block. `self-harm` and `sexual/minors` are always blocked.',
  ),
}
const injectionPart = {
  title: 'GatewayPromptInjection',
  description:
    'What happens to a prompt injection, by its place in a request. `monitor`, the default: it is recorded. `block`: the request is denied. `off`: it is not searched for.',
}
const controls = {
  project_keys: flag('Informational: every request needs a key or a token, whatever the value.'),
  user_quotas: flag('Whether `user_quota` applies.'),
  audit_logs: flag(
    'Whether requests are rejected while the audit log cannot be written. Requests are logged in any case.',
  ),
  data_classification: orNull(label(64), 'A label that is copied into audit events.'),
}
const share = {
  enabled: flag('Whether it is enabled.'),
  sample_percent: Type.Number({
    minimum: 0,
    maximum: 100,
    description: 'Percentage of subjects; the selection is stable.',
  }),
  targets: list(
    label(200),
    100,
    'Labels sent in `X-Policy-Target`. Requests with none of them are outside the rollout: for them the configuration is evaluated and recorded, and not enforced. Empty: all requests.',
  ),
}
const rollbackOnSpike = flag(
  'Disables the configuration after a denial spike within 24 hours of a save, until the next save.',
)
const replacement = {
  mode: pattern('What happens to a matching text if `rules.response_pattern` is null.'),
  escalation_path: line(500, 'Contact that is reported with an escalation.'),
}

const partsOf = {
  rules: { title: 'GatewayRules', description: 'What is checked, and what happens to a text that matches.' },
  org_controls: { title: 'GatewayControls', description: 'Quotas and audit settings of the organization.' },
  user_quota: { title: 'GatewayQuota', description: 'The quota of each end user.' },
  project_quota: { title: 'GatewayQuota', description: 'The quota of each project.' },
  rollout: { title: 'GatewayRollout', description: 'Which requests the configuration applies to.' },
  shadow: { title: 'GatewayRolloutShare', description: 'Decisions for these requests are only recorded.' },
  canary: { title: 'GatewayRolloutShare', description: 'Only these requests are decided.' },
  refusal_replacement: { title: 'GatewayReplacement', description: 'What replaces a text that was denied.' },
}

/** The configuration in a response: every field is present. */
export const Configuration = Type.Object(
  {
    ...own,
    rules: whole({ ...rules, prompt_injection: whole(promptInjection, injectionPart) }, partsOf.rules),
    org_controls: whole(
      { ...controls, user_quota: whole(quota, partsOf.user_quota), project_quota: whole(quota, partsOf.project_quota) },
      partsOf.org_controls,
    ),
    rollout: whole(
      {
        shadow: whole(share, partsOf.shadow),
        canary: whole(share, partsOf.canary),
        rollback_on_spike: rollbackOnSpike,
      },
      partsOf.rollout,
    ),
    refusal_replacement: whole(replacement, partsOf.refusal_replacement),
  },
  { ...strict, title: 'GatewayConfig', description: 'The configuration with every field.' },
)

/** The configuration in a request: fields that are left out get their defaults. */
export const givenConfigurationFields = {
  ...own,
  rules: partial({ ...rules, prompt_injection: partial(promptInjection, injectionPart) }, partsOf.rules),
  org_controls: partial(
    {
      ...controls,
      user_quota: partial(givenQuota, partsOf.user_quota),
      project_quota: partial(givenQuota, partsOf.project_quota),
    },
    partsOf.org_controls,
  ),
  rollout: partial(
    {
      shadow: partial(share, partsOf.shadow),
      canary: partial(share, partsOf.canary),
      rollback_on_spike: rollbackOnSpike,
    },
    partsOf.rollout,
  ),
  refusal_replacement: partial(replacement, partsOf.refusal_replacement),
}
export const GivenConfigurationBody = Type.Partial(Type.Object(givenConfigurationFields), {
  ...strict,
  title: 'GatewayConfigInput',
  description: 'The configuration; fields that are left out get their defaults.',
})
