import Type, { type Static } from 'typebox'
import { restoreLosses } from '../../../domain/audit/event/restorable.ts'
import { checks, decisions } from '../../../domain/audit/event/verdict.ts'
import { explanationBases, nearestChanges, rerunLosses, rolloutSides } from '../../../domain/explanation/explanation.ts'
import { secondStages } from '../../../domain/scan/classify/classifier.ts'
import { flag, integer, text } from '../../described.ts'
import { EvidenceObject, evidenceExample } from '../../resources/explanation.ts'
import { orNull } from '../../resources/fields.ts'
import { scenarioFields } from '../../resources/scenario.ts'

export const ExplanationQuery = Type.Object(
  {
    include: Type.Optional(
      Type.Enum(['content'], {
        description:
          '`content`: with the words of the kept texts in `quote`. Needs the permission `content:read`, and writes an event `audit.content.read` to the audit log.',
      }),
    ),
  },
  { additionalProperties: false },
)

export const ExplanationBody = Type.Object(
  {
    text: scenarioFields.text,
    messages: scenarioFields.messages,
    dialect: scenarioFields.dialect,
    metadata: scenarioFields.metadata,
    response: Type.Optional(Type.String({ description: 'The response of the model, as one text.' })),
  },
  {
    additionalProperties: false,
    title: 'ExplanationRequest',
    description: 'The texts of the request, its response, or both.',
    examples: [{ messages: [{ role: 'user', content: 'What is Project Falcon?' }] }],
  },
)

const basisPoints = (description: string) => orNull(Type.Integer(), description)
const decision = (description: string) => Type.Enum([...decisions], { description })

const Deciding = Type.Object(
  {
    check: Type.Enum([...checks], { description: 'The check that decided.' }),
    policy: Type.Object(
      {
        id: orNull(Type.String(), 'The policy, or the `policy_id` of the gateway configuration.'),
        name: orNull(Type.String(), 'Its name at that time.'),
        version: orNull(Type.Integer(), 'The version that decided; null for a configuration that was never saved.'),
      },
      { title: 'DecidingPolicy', description: 'The rule.' },
    ),
    reason_code: orNull(Type.String(), 'The reason code of the decision.'),
    score_bp: basisPoints('The score of the check in basis points; null for a check without scores.'),
    threshold_bp: basisPoints('The score from which it matches.'),
    exception_id: orNull(Type.String(), 'The exception that let the request through; null without one.'),
    rollout: Type.Object(
      {
        mode: orNull(Type.String(), '`enforced`, `shadow`, `canary` or `rollback`.'),
        percent: orNull(Type.Number(), 'The share of users in the shadow or canary; null without one.'),
        side: Type.Enum([...rolloutSides], {
          description:
            '`enforced`: the check was enforced for this request. `observed`: its decision was only recorded.',
        }),
      },
      { title: 'DecidingRollout', description: 'How the check applied to this request.' },
    ),
  },
  { title: 'DecidingCheck' },
)

const Versions = Type.Object(
  {
    gateway_config: orNull(Type.Integer(), 'The gateway configuration; null if none was saved.'),
    classifier: orNull(
      Type.Object(
        {
          id: text('The classifier.'),
          version: text('Its version, of both stages.'),
          stage: Type.Enum(['linear', ...secondStages], { description: 'The stage that decided.' }),
        },
        { title: 'DecidingClassifier' },
      ),
      'The classifier that scored the texts; null if none did.',
    ),
    judge: orNull(
      Type.String(),
      'The judge model and a digest of its prompt; null if no rule needed one, and in events of version 0.2.',
    ),
    product: text('The version of Gatehouse. The engine that evaluates rules is a part of it.'),
  },
  { title: 'DecidingVersions', description: 'What decided, as the event records it.' },
)

const OtherCheck = Type.Object(
  {
    check: Type.Enum([...checks], { description: 'The check.' }),
    policy_id: orNull(Type.String(), 'The policy, or the `policy_id` of the configuration.'),
    name: orNull(Type.String(), 'The present name of the policy, or the name of the configuration.'),
    version: orNull(Type.Integer(), 'The version that was evaluated.'),
    decision: decision('What it decided.'),
    enforced: orNull(Type.Boolean(), 'False: it was only recorded. Null: events of version 0.2 do not say.'),
    alone: decision('What would have happened if it were the only check.'),
    score_bp: basisPoints('Its score in basis points.'),
    threshold_bp: basisPoints('The score from which it matches.'),
    exception_id: orNull(Type.String(), 'The exception that let the request through; null without one.'),
  },
  { title: 'OtherCheck' },
)

const AlsoAffects = Type.Object(
  {
    requests: integer('Requests that would have passed as well.'),
    checked: integer('Denials of the policy that were read.'),
    is_complete: flag('False if there are more than were read.'),
  },
  {
    title: 'AlsoAffected',
    description: 'Other requests of the last seven days that this policy denied, counted by the scores in the log.',
  },
)

const NearestChange = Type.Object(
  {
    change: Type.Enum([...nearestChanges], {
      description:
        '`threshold`: another threshold of the policy. `without_text`: the text without a span of words. `without_check`: the rules without this check.',
    }),
    check: orNull(Type.Enum([...checks]), 'The check that is changed or left out; null for a change of the text.'),
    policy_id: orNull(Type.String(), 'The policy, or the `policy_id` of the configuration.'),
    threshold_bp: basisPoints('The lowest threshold with which it passes.'),
    part: orNull(Type.String(), 'The text that is changed, as in `evidence`.'),
    start: orNull(Type.Integer(), 'Start of the span.'),
    end: orNull(Type.Integer(), 'End, exclusive.'),
    quote: orNull(Type.String(), 'The words of the span; null unless texts are included.'),
    effect: decision('What would have happened.'),
    verified: flag(
      'False: a response ended at this denial and none of its text is kept, so a later part of it may be denied as well.',
    ),
    also_affects: orNull(AlsoAffects, 'For `threshold`; null for other changes.'),
  },
  {
    title: 'NearestChange',
    description: 'One change with which the request would have passed, found by evaluating again. No model is asked.',
  },
)

const recordedValue = (description: string) => orNull(Type.Union([Type.String(), Type.Number()]), description)

export const ExplanationObject = Type.Object(
  {
    object: Type.Literal('organization.request.explanation'),
    request_id: text('The request.'),
    event_id: text('Its event in the audit log.'),
    decision: decision('The decision of the checks.'),
    effective_decision: decision('What happened to the request or response.'),
    enforced: flag('False: the decision was recorded and not applied.'),
    direction: orNull(
      Type.Enum(['request', 'response']),
      'What the decision is about; null if the request was rejected before the checks.',
    ),
    basis: Type.Enum([...explanationBases], {
      description:
        '`record`: the facts of the event alone, because no text is kept. `rerun`: the kept texts, evaluated again by the versions that decided. `rerun_of_sent_text`: the text that was sent along, which may be another one.',
    }),
    deciding: orNull(Deciding, 'The check that decided; null if every check allowed it.'),
    versions: Versions,
    evidence: Type.Array(EvidenceObject, { description: 'What the checks acted on.' }),
    others: Type.Array(OtherCheck, { description: 'Every other check that ran.' }),
    nearest: Type.Array(NearestChange, {
      description: 'Single changes with which it would have passed; empty if there is none.',
    }),
    differs: Type.Array(
      Type.Object(
        {
          field: text('What differs.'),
          recorded: recordedValue('In the event.'),
          rerun: recordedValue('In the rerun.'),
        },
        { title: 'ExplanationDifference' },
      ),
      { description: 'Where the rerun decides otherwise than the record. `incomplete` may say why.' },
    ),
    incomplete: Type.Array(Type.Enum([...restoreLosses, ...rerunLosses]), {
      description:
        'What the rerun lacked. `personal_data`: it was replaced in the kept text. `metadata`: it is not kept, and a rule reads it. `policy_version`, `gateway_version`: it no longer exists. `judge`: it is not asked again, its recorded score is used. `request`, `response`: the text that the decision is about. The others: parts of the request that are not kept.',
    }),
  },
  {
    title: 'RequestExplanation',
    examples: [
      {
        object: 'organization.request.explanation',
        request_id: 'req_01k9z8y7x6w5v4t3s2r1q0p9n8',
        event_id: 'evt_01k9z8y7x6w5v4t3s2r1q0p9n8',
        decision: 'refuse',
        effective_decision: 'refuse',
        enforced: true,
        direction: 'request',
        basis: 'rerun',
        deciding: {
          check: 'policy',
          policy: { id: 'pol_01k9z8y7x6w5v4t3s2r1q0p9n8', name: 'No code names', version: 3 },
          reason_code: 'REFUSE',
          score_bp: 10_000,
          threshold_bp: 5_000,
          exception_id: null,
          rollout: { mode: 'enforced', percent: null, side: 'enforced' },
        },
        versions: {
          gateway_config: 4,
          classifier: { id: 'embedded+encoder', version: '9+1', stage: 'linear' },
          judge: null,
          product: '0.3.0',
        },
        evidence: [evidenceExample],
        others: [
          {
            check: 'gateway',
            policy_id: 'default',
            name: 'Acceptable use',
            version: 4,
            decision: 'allow',
            enforced: true,
            alone: 'allow',
            score_bp: null,
            threshold_bp: null,
            exception_id: null,
          },
        ],
        nearest: [
          {
            change: 'without_text',
            check: null,
            policy_id: null,
            threshold_bp: null,
            part: 'messages[0]',
            start: 16,
            end: 22,
            quote: null,
            effect: 'allow',
            verified: true,
            also_affects: null,
          },
        ],
        differs: [],
        incomplete: [],
      },
    ],
  },
)

export type ExplanationBodyOf = Static<typeof ExplanationObject>
