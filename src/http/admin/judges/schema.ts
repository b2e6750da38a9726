import Type, { type Static } from 'typebox'
import { maxNameLength } from '../../../domain/identity/bounds.ts'
import { conditionKinds } from '../../../domain/judges/conditions.ts'
import { driftKinds } from '../../../domain/judges/drift.ts'
import { judgeFailures, judgeStates } from '../../../domain/judges/judge.ts'
import { maxTemplateCharacters } from '../../../domain/judges/template.ts'
import { maxRevision } from '../../../domain/policy/policy.ts'
import { flag, integer, number, text } from '../../described.ts'
import { idText, orNull, unixTime } from '../../resources/fields.ts'
import { listOf, pageExample } from '../../resources/list.ts'
import { managedBy } from '../../resources/managed-by.ts'
import { gateOverride } from '../../resources/gate.ts'
import { calibrationExample, calibrationExampleId, reportFields } from './report-schema.ts'

const strict = { additionalProperties: false }

const judgeExampleId = 'jdg_01k9z8y7x6w5v4t3s2r1q0p9n8'

export const JudgeParams = Type.Object({
  judge_id: idText('The judge, or `file` for the one of the configuration.', judgeExampleId),
})

const name = Type.String({
  minLength: 1,
  maxLength: maxNameLength,
  description: 'A name that no other judge of the organization has.',
  examples: ['Small and fast'],
})
const part = (description: string, examples: string[]) =>
  Type.String({ minLength: 1, maxLength: maxTemplateCharacters, pattern: '^[^\\u0000]*$', description, examples })
const template = Type.Object(
  {
    system: part('The instructions. May have the places `{{rule}}` and `{{direction}}`.', [
      'You check texts of a bank. Say how sure you are that the text breaks this rule: {{rule}}',
    ]),
    user: part('The question. Needs the place `{{text}}` once.', ['{{text}}\nDoes it break the rule?']),
  },
  {
    ...strict,
    title: 'JudgeTemplate',
    description:
      'Instructions in place of the built-in ones. `{{rule}}` and `{{text}}` stand once each. The marks around the text, the warning that it is data, and the form of the answer are always added.',
  },
)
const givenPrompt = Type.Object(
  { template: orNull(template, 'Null: the built-in prompt.') },
  { ...strict, description: 'What the model is told.' },
)
const temperature = number('Default: 0, so that the same text gets the same score.', { minimum: 0, maximum: 2 })
const outputTokens = integer('The output limit of an answer. A model that reasons needs more. Default: 128.', {
  minimum: 16,
  maximum: 8_192,
})
const parameters = { temperature, max_output_tokens: outputTokens }
const contentFields = {
  model: idText('A model that the organization can use.', 'gatehouse-echo'),
  timeout_ms: integer('Timeout of a call. A call waits in the queue for at most six times as long.', {
    minimum: 1,
    maximum: 120_000,
  }),
  fail: Type.Enum([...judgeFailures], {
    description:
      'What happens if the judge gives no verdict: with `closed` an enforcing rule denies the text, with `open` it allows the text.',
  }),
  max_usd_per_day: number('Budget of a UTC day over all nodes, by the prices of the model.', {
    minimum: 0,
    maximum: 100_000,
  }),
}

const givenContent = {
  prompt: Type.Optional(givenPrompt),
  parameters: Type.Optional(
    Type.Partial(Type.Object(parameters), { ...strict, description: 'Parameters of the calls.' }),
  ),
  timeout_ms: Type.Optional(contentFields.timeout_ms),
  fail: Type.Optional(contentFields.fail),
  max_usd_per_day: Type.Optional(contentFields.max_usd_per_day),
}

export const CreateJudge = Type.Object(
  { name, model: contentFields.model, ...givenContent },
  {
    ...strict,
    title: 'JudgeCreate',
    examples: [{ name: 'Small and fast', model: 'gatehouse-echo', timeout_ms: 3_000, max_usd_per_day: 5 }],
  },
)

const revision = integer('The revision that the caller has read. Responds with 409 if the judge has changed since.', {
  minimum: 1,
  maximum: maxRevision,
  examples: [1],
})
const version = Type.Optional(
  integer('The number of the version. Default: the newest.', { minimum: 1, maximum: maxRevision, examples: [1] }),
)

export const UpdateJudge = Type.Object(
  { revision, name: Type.Optional(name), model: Type.Optional(contentFields.model), ...givenContent },
  { ...strict, title: 'JudgeUpdate', examples: [{ revision: 1, timeout_ms: 4_000 }] },
)

export const ActivateJudge = Type.Object(
  { version, override: gateOverride },
  {
    ...strict,
    title: 'JudgeActivation',
    examples: [{ override: { reason: 'The model before is switched off today' } }],
  },
)

export const ShadowJudge = Type.Object(
  {
    version,
    share_bp: integer('The share of questions about requests, in basis points, by the text. 0 ends it.', {
      minimum: 0,
      maximum: 10_000,
      examples: [500],
    }),
  },
  { ...strict, title: 'JudgeShadow', examples: [{ share_bp: 500 }] },
)

export const StartCalibration = Type.Object({ version }, { ...strict, title: 'JudgeCalibrationCreate', examples: [{}] })

const prompt = Type.Object(
  {
    template: orNull(template, 'Null: the built-in prompt.'),
    digest: text('Identifies the prompt. Scores of the same model and digest can be compared.'),
  },
  { description: 'What the model is told.' },
)

const versionFields = {
  version: integer('The number of the version.'),
  ...contentFields,
  prompt,
  parameters: Type.Object(parameters, { description: 'Parameters of the calls.' }),
  state: Type.Enum([...judgeStates], {
    description:
      '`draft`: not calibrated. `calibrated`: may take over. `active`: evaluates the rules in plain language. `shadow`: asked beside the active one. `retired`: out of use.',
  }),
}

const Condition = Type.Object(
  {
    kind: Type.Enum([...conditionKinds], { description: 'What is asked.' }),
    met: flag('Whether it is met.'),
    message: text('The result in words.'),
  },
  { title: 'JudgeCondition' },
)

const Alarm = Type.Object(
  {
    kind: Type.Enum([...driftKinds], { description: 'What has changed.' }),
    text: text('The change in words.'),
    since: unixTime('When it was noticed.'),
  },
  { title: 'JudgeAlarm' },
)

const contentExample = {
  version: 1,
  model: 'gatehouse-echo',
  prompt: { template: null, digest: '3d0f5c2b5f0f' },
  parameters: { temperature: 0, max_output_tokens: 128 },
  timeout_ms: 3_000,
  fail: 'closed',
  max_usd_per_day: 5,
  state: 'calibrated',
}

const example = {
  id: judgeExampleId,
  object: 'organization.judge',
  name: 'Small and fast',
  defined_in: 'organization',
  revision: 1,
  ...contentExample,
  active_version: null,
  shadow: null,
  seen: [{ upstream: 'echo', model: 'echo', since: 1_767_225_600 }],
  calibration: { id: calibrationExampleId, at: 1_767_225_600, ...calibrationExample.report },
  conditions: [{ kind: 'labels', met: true, message: 'It gave an answer to 80 labels; 50 are needed.' }],
  alarms: [],
  nightly_usd: 0.02,
  created_at: 1_767_225_600,
  updated_at: 1_767_225_600,
}

export const JudgeObject = Type.Object(
  {
    id: text('The id of the judge; `file` for the one of the configuration.'),
    object: Type.Literal('organization.judge'),
    name: text('Its name.'),
    defined_in: Type.Enum(['organization', 'file'], {
      description: '`file`: `policies.judge` of the configuration. It can only be changed there.',
    }),
    revision: orNull(
      integer('The number of changes.'),
      'The number of changes; null for the judge of the configuration.',
    ),
    ...versionFields,
    active_version: orNull(integer('The version.'), 'The version that evaluates rules now; null if none does.'),
    shadow: orNull(
      Type.Object(
        {
          version: integer('The version.'),
          share_bp: integer('The share of questions, in basis points.'),
        },
        { title: 'JudgeInShadow' },
      ),
      'The version that is asked beside the active judge; null if none is.',
    ),
    seen: Type.Array(
      Type.Object({
        upstream: text('The upstream.'),
        model: text('The model as the upstream reports it.'),
        since: unixTime('Since when.'),
      }),
      { description: 'The models that have answered the newest version, or the one in use.' },
    ),
    calibration: orNull(
      Type.Object(
        { id: text('The calibration.'), at: unixTime('When it ended.'), ...reportFields },
        { title: 'JudgeCalibrationSummary' },
      ),
      'The last calibration of the newest version; null if there is none.',
    ),
    conditions: Type.Array(Condition, { description: 'What the newest version has to show before it takes over.' }),
    alarms: Type.Array(Alarm, { description: 'Signs that the active version no longer answers as it did.' }),
    nightly_usd: orNull(
      number('USD.'),
      'What the check of an active version costs each night, by the price of its calibration; null if there is none.',
    ),
    managed_by: managedBy,
    created_at: orNull(unixTime('When it was created.')),
    updated_at: orNull(unixTime('When it was last changed.')),
  },
  { title: 'Judge', examples: [example] },
)

export const JudgeList = listOf('JudgeList', JudgeObject, pageExample(example))

export const DeletedJudge = Type.Object(
  {
    object: Type.Literal('organization.judge.deleted'),
    id: text('Its id.'),
    deleted: Type.Literal(true),
  },
  { title: 'DeletedJudge', examples: [{ object: 'organization.judge.deleted', id: judgeExampleId, deleted: true }] },
)

export const VersionList = Type.Object(
  {
    object: Type.Literal('list'),
    data: Type.Array(
      Type.Object(
        {
          object: Type.Literal('organization.judge.version'),
          ...versionFields,
          created_by: text('Who made it.'),
          created_at: unixTime('When.'),
        },
        { title: 'JudgeVersion' },
      ),
      { description: 'The newest first.' },
    ),
  },
  {
    title: 'JudgeVersionList',
    examples: [
      {
        object: 'list',
        data: [
          {
            object: 'organization.judge.version',
            ...contentExample,
            created_by: 'adk_01k9z8y7x6w5v4t3s2r1q0p9n8',
            created_at: 1_767_225_600,
          },
        ],
      },
    ],
  },
)

export type JudgeBody = Static<typeof JudgeObject>
export type JudgeCreateBody = Static<typeof CreateJudge>
