import Type, { type Static, type TSchema } from 'typebox'
import { integer, text, texts } from '../../described.ts'
import { contentBody, initialContent, policyFields, type PolicyContentBody } from '../../../domain/policy/content.ts'
import { maxRevision, policyStates } from '../../../domain/policy/policy.ts'
import { idText, orNull, unixTime } from '../../resources/fields.ts'
import { managedBy } from '../../resources/managed-by.ts'
import { listOf, listQuery, nameSearch, pageExample } from '../../resources/list.ts'

export const policyExampleId = 'pol_01k9z8y7x6w5v4t3s2r1q0p9n8'
const versionExampleId = 'polv_01k9z8y7x6w5v4t3s2r1q0p9n9'

const name = text('The name of the policy.', { minLength: 1, maxLength: 80, examples: ['No project names'] })
const description = text('The purpose of the policy.', { maxLength: 240, examples: ['Code names stay inside.'] })
export const rule = Type.String({
  minLength: 1,
  maxLength: 20_000,
  description:
    'Plain language, or `cel:` and a CEL expression over text, direction, model, project, user, metadata, categories, pii and prompt_injection.',
  examples: ['Never mention "Project Falcon".', 'cel:text.contains("falcon") || pii["email"] > 0'],
})
const direction = Type.Enum([...policyFields.direction.choices], {
  description: 'Which texts are evaluated: requests, responses or both.',
})
const mode = Type.Enum([...policyFields.mode.choices], {
  description: '`monitoring` records matches; `enforcing` blocks them.',
})
const scope = Type.Enum([...policyFields.scope.choices], {
  description:
    '`organization`: all projects. `projects`: those in `project_ids`. `unattached`: only requests that name the policy.',
})
const projectIds = Type.Array(idText('A project of the organization.', 'proj_01k9z8y7x6w5v4t3s2r1q0p9n0'), {
  maxItems: 1000,
  description: 'The projects of the scope `projects`. A set: order and duplicates have no meaning.',
})
const { minimum, maximum } = policyFields.matchThresholdBasisPoints
const threshold = Type.Integer({
  minimum,
  maximum,
  description: 'The score, in basis points, from which the rule matches.',
  examples: [7000],
})
const judgeWindow = Type.Enum([...policyFields.judgeWindow.choices], {
  description:
    'How much of a text a judge evaluates at once: the whole `block`, or one `paragraph` after the other, so that a streamed response is sent paragraph by paragraph. Only rules in plain language with a judge use it.',
})
const judgeWhen = Type.String({
  maxLength: 4_000,
  pattern: '^[^\\u0000]*$',
  description:
    'An expression without `cel:`. A judge is asked only about texts for which it is true; others get a score of 0, and the event says that the judge was skipped. Empty: about all texts. Only rules in plain language with a judge use it.',
  examples: ['text.size() > 20'],
})
const pauseOnSpike = Type.Boolean({
  description:
    'Whether a denial spike within 24 hours of the publication pauses the policy. Otherwise a spike is only reported.',
})
export const revision = Type.Integer({
  minimum: 1,
  maximum: maxRevision,
  description: 'The revision that the caller has read. Responds with 409 if the policy has changed since.',
  examples: [3],
})

export const PolicyParams = Type.Object({ policy_id: idText('The policy.', policyExampleId) })
export const VersionParams = Type.Object({
  ...PolicyParams.properties,
  version: Type.Integer({ minimum: 1, maximum: maxRevision, description: 'The number of the version.', examples: [1] }),
})

const ofVersion = 'As in the current version, or in the draft while nothing is published.'

export const PolicyQuery = listQuery({
  search: nameSearch,
  state: Type.Optional(Type.Enum([...policyStates], { description: 'Only policies in this state.' })),
  mode: Type.Optional(
    Type.Enum([...policyFields.mode.choices], { description: `Only policies with this mode. ${ofVersion}` }),
  ),
  scope: Type.Optional(
    Type.Enum([...policyFields.scope.choices], { description: `Only policies with this scope. ${ofVersion}` }),
  ),
  direction: Type.Optional(
    Type.Enum([...policyFields.direction.choices], { description: `Only policies with this direction. ${ofVersion}` }),
  ),
  project_id: Type.Optional(
    idText(
      `Only policies that apply to this project: those of the whole organization, and those that list it. ${ofVersion}`,
      'proj_01k9z8y7x6w5v4t3s2r1q0p9n0',
    ),
  ),
  include: Type.Optional(
    Type.Enum(['stats'], { description: '`stats`: with `mode`, `scope` and the decisions of the last 24 hours.' }),
  ),
  has_unpublished_changes: Type.Optional(
    Type.Boolean({ description: 'Only policies whose draft differs from the current version, or only others.' }),
  ),
})

export const VersionQuery = listQuery({})

/** Null is equivalent to leaving a field out, except for the threshold, which it clears. */
const settings = {
  description: Type.Optional(orNull(description)),
  direction: Type.Optional(orNull(direction)),
  mode: Type.Optional(orNull(mode)),
  scope: Type.Optional(orNull(scope)),
  project_ids: Type.Optional(orNull(projectIds)),
  match_threshold_basis_points: Type.Optional(orNull(threshold, 'Null resets it to the default of 5000.')),
  judge_window: Type.Optional(orNull(judgeWindow)),
  judge_when: Type.Optional(orNull(judgeWhen)),
  pause_on_spike: Type.Optional(orNull(pauseOnSpike)),
} satisfies Record<Exclude<keyof PolicyContentBody, 'rule'> | 'description', TSchema>

/** The content of a policy that is evaluated and not stored. */
export const triedContent = (({ description: _, ...content }) => ({ name: Type.Optional(name), rule, ...content }))(
  settings,
)

export const CreatePolicy = Type.Object(
  { name, rule, ...settings },
  {
    title: 'PolicyCreate',
    additionalProperties: false,
    examples: [
      { name: 'No project names', rule: 'Never mention "Project Falcon".', mode: 'enforcing' },
      { name: 'No leaks', rule: 'cel:pii["email"] > 0', direction: 'response', scope: 'organization' },
    ],
  },
)

export const UpdatePolicy = Type.Object(
  { revision, name: Type.Optional(orNull(name)), rule: Type.Optional(orNull(rule)), ...settings },
  {
    title: 'PolicyUpdate',
    additionalProperties: false,
    examples: [{ revision: 3, mode: 'enforcing', match_threshold_basis_points: 7000 }],
  },
)

export const DeleteQuery = Type.Object({ revision }, { additionalProperties: false })

const content = {
  rule: text('Plain language, or `cel:` and a CEL expression.'),
  direction,
  mode,
  scope,
  project_ids: texts('The projects of the scope `projects`.'),
  match_threshold_basis_points: orNull(
    integer('The score, in basis points, from which the rule matches. Null: the default of 5000.'),
  ),
  judge_window: judgeWindow,
  judge_when: text('An expression that guards the judge; empty if there is none.'),
  pause_on_spike: pauseOnSpike,
} satisfies Record<keyof PolicyContentBody, TSchema>

const contentExample: PolicyContentBody = {
  ...contentBody(initialContent),
  rule: 'Never mention "Project Falcon".',
  mode: 'enforcing',
}

const versionExample = {
  id: versionExampleId,
  object: 'organization.policy.version',
  version: 1,
  ...contentExample,
  published_at: 1_767_225_600,
  published_by: 'adk_01k9z8y7x6w5v4t3s2r1q0p9n8',
  reason: null,
  current: true,
}

export const PolicyVersion = Type.Object(
  {
    id: text('The id of the version.'),
    object: Type.Literal('organization.policy.version'),
    version: integer('The number of the version: 1, 2, 3 …', { minimum: 1 }),
    ...content,
    published_at: unixTime('Time of publication.'),
    published_by: orNull(
      Type.String(),
      'The id of the key or member; `operator` for the command line on the server. Null for versions from before authors were recorded.',
    ),
    reason: orNull(Type.String(), 'Why it was published; null if nobody said so.'),
    current: Type.Boolean({ description: 'Whether it is the current version.' }),
  },
  { title: 'PolicyVersion', examples: [versionExample] },
)

const summary = {
  id: text('The id of the policy.'),
  object: Type.Literal('organization.policy'),
  name: text('The name of the policy.'),
  description: text('The purpose of the policy.'),
  state: Type.Enum([...policyStates], { description: 'What the policy does with requests now.' }),
  revision: integer('Counts the changes; send it with the next one.', { minimum: 1, maximum: maxRevision }),
  current_version: orNull(integer('The published version; null before the first publication.', { minimum: 1 })),
  has_unpublished_changes: Type.Boolean({ description: 'Whether the draft differs from the current version.' }),
  rollout_percent: integer(
    'The share of users, or keys where no user is named, that it is enforced for while it is enforcing. For the others it is only recorded.',
    { minimum: 1, maximum: 100 },
  ),
  created_at: unixTime('When it was created.'),
  updated_at: unixTime('When it was last changed.'),
  managed_by: managedBy,
}

const summaryExample = {
  id: policyExampleId,
  object: 'organization.policy',
  name: 'No project names',
  description: '',
  state: 'enforcing',
  revision: 3,
  current_version: 1,
  has_unpublished_changes: false,
  rollout_percent: 100,
  created_at: 1_767_225_600,
  updated_at: 1_767_225_600,
}

const policyExample = { ...summaryExample, draft: { ...contentExample, base_version: 1 }, published: versionExample }

/** The policy after its creation, and while it is paused. */
export const draftExample = {
  ...summaryExample,
  state: 'draft',
  revision: 1,
  current_version: null,
  has_unpublished_changes: true,
  draft: { ...contentExample, base_version: null },
  published: null,
}
export const pausedExample = { ...policyExample, state: 'paused', revision: 4 }

const withStats = 'Only with `include=stats`.'

const PolicySummary = Type.Object(
  {
    ...summary,
    mode: Type.Optional(Type.Enum([...policyFields.mode.choices], { description: `${ofVersion} ${withStats}` })),
    scope: Type.Optional(Type.Enum([...policyFields.scope.choices], { description: `${ofVersion} ${withStats}` })),
    stats: Type.Optional(
      Type.Object(
        {
          requests_24h: integer('Requests on which the policy was evaluated.'),
          matches_24h: integer('Of these, those that matched: denied, or recorded in monitoring.'),
          denials_24h: integer('Of these, those that were denied.'),
          matches_by_hour: Type.Array(Type.Integer(), {
            description: 'Matches in each of the 24 hours. The last one is the hour that has begun.',
          }),
        },
        {
          title: 'PolicyStats',
          description: `Decisions in the hour that has begun and the 23 before it, over all versions. ${withStats}`,
        },
      ),
    ),
  },
  { title: 'PolicySummary' },
)

export const Policy = Type.Object(
  {
    ...summary,
    draft: Type.Object(
      {
        ...content,
        base_version: orNull(Type.Integer(), 'The version last published or rolled back to.'),
      },
      { title: 'PolicyDraft', description: 'The content that a publication would use.' },
    ),
    published: orNull(PolicyVersion, 'The current version.'),
  },
  { title: 'Policy', examples: [policyExample] },
)

export const PolicyList = listOf('PolicyList', PolicySummary, pageExample(summaryExample))
export const VersionList = listOf('PolicyVersionList', PolicyVersion, pageExample(versionExample))

export const DeletedPolicy = Type.Object(
  {
    id: text('The policy that was deleted.'),
    object: Type.Literal('organization.policy.deleted'),
    deleted: Type.Literal(true),
  },
  { title: 'PolicyDeleted', examples: [{ id: policyExampleId, object: 'organization.policy.deleted', deleted: true }] },
)

export type PolicyBody = Static<typeof Policy>
export type PolicySummaryBody = Omit<PolicyBody, 'draft' | 'published'>
export type PolicyVersionBody = NonNullable<PolicyBody['published']>
