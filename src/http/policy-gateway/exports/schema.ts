import Type from 'typebox'
import { sinkStates } from '../../../domain/audit/export/cursor.ts'
import { sinkStarts } from '../../../domain/audit/export/export-sink.ts'
import { deliveryOutcomes, sinkTypes } from '../../../domain/audit/export/sink.ts'
import { listOf, listQuery, pageExample } from '../../resources/list.ts'
import { idText, isoTime, orNull } from '../../resources/fields.ts'

const exampleId = 'sink_01k9z8y7x6w5v4t3s2r1q0p9n8'

export const ExportParams = Type.Object({ export_id: idText('The export sink.', exampleId) })
export const ExportQuery = listQuery({})

const type = Type.String({
  minLength: 1,
  maxLength: 64,
  description: `One of ${sinkTypes.map((each) => `\`${each}\``).join(', ')}.`,
  examples: ['splunk_hec'],
})
const label = Type.String({ maxLength: 200, description: 'What it is for.', examples: ['Security team'] })
const enabled = Type.Boolean({ description: 'A sink that is switched off keeps its place in the log.' })
const config = Type.Record(Type.String(), Type.Unknown(), {
  description:
    'How to reach the destination; its fields depend on the type (docs/guide/exports.md). Secrets are answered masked.',
})

const exampleConfig = { url: 'https://splunk.example.com:8088', token: '3f2b7c1e-9a55-4b8e-8a0e-3c1f0a6e2f11' }

export const NewExport = Type.Object(
  {
    type,
    label: Type.Optional(label),
    enabled: Type.Optional(enabled),
    config,
    start: Type.Optional(
      Type.Enum([...sinkStarts], {
        description: 'Which events it gets first: those from now on (the default), or all that are still kept.',
      }),
    ),
  },
  {
    additionalProperties: false,
    examples: [{ type: 'splunk_hec', label: 'Security team', enabled: true, config: exampleConfig }],
  },
)

export const ChangedExport = Type.Object(
  {
    type: Type.Optional(type),
    label: Type.Optional(label),
    enabled: Type.Optional(enabled),
    config: Type.Optional(config),
  },
  { additionalProperties: false, examples: [{ enabled: false }] },
)

const Health = Type.Object(
  {
    state: Type.Enum([...sinkStates, 'disabled'], {
      description:
        '`retrying` and `throttled` wait by themselves; `auth_error` and `config_error` wait for a change. Nothing is lost in any of them.',
    }),
    backlog_events: Type.Integer({ description: 'Events that it has not got yet.' }),
    oldest_unsent_at: orNull(isoTime('When the oldest of them happened.')),
    next_attempt_at: orNull(isoTime('When it is tried again, where something stands in the way.')),
    dead_letters: Type.Integer({ description: 'Events that the destination will never take.' }),
  },
  { description: 'How it is doing.' },
)

const example = {
  id: exampleId,
  type: 'splunk_hec',
  label: 'Security team',
  enabled: true,
  config: { ...exampleConfig, token: '••••2f11' },
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
  last_success_at: '2026-01-01T00:01:00.000Z',
  last_error_at: null,
  last_error: null,
  health: { state: 'healthy', backlog_events: 0, oldest_unsent_at: null, next_attempt_at: null, dead_letters: 0 },
}

export const ExportObject = Type.Object({
  id: Type.String(),
  type: Type.String(),
  label: Type.String(),
  enabled: Type.Boolean(),
  config,
  created_at: isoTime('When it was created.'),
  updated_at: isoTime('When it was last changed.'),
  last_success_at: orNull(isoTime('When the destination last took events.')),
  last_error_at: orNull(isoTime('When it last refused some, or could not be reached.')),
  last_error: orNull(Type.String(), 'Why.'),
  health: Health,
})

export const ExportAnswer = Type.Object({ export: ExportObject }, { examples: [{ export: example }] })

export const ExportList = listOf(ExportObject, pageExample(example))

export const DeletedExport = Type.Object(
  { export: Type.Object({ id: Type.String(), deleted: Type.Literal(true) }) },
  { examples: [{ export: { id: exampleId, deleted: true } }] },
)

export const TestAnswer = Type.Object(
  {
    test: Type.Object({
      success: Type.Boolean(),
      outcome: Type.Enum([...deliveryOutcomes]),
      message: Type.String({ description: 'What the destination said, or why it could not be asked.' }),
      event_id: Type.String({ description: 'The event that was sent; it stands in the audit log, too.' }),
    }),
  },
  {
    examples: [
      {
        test: {
          success: true,
          outcome: 'delivered',
          message: 'The destination took the event.',
          event_id: 'evt_01k9z8y7x6w5v4t3s2r1q0p9n8',
        },
      },
    ],
  },
)

const DeadLetterObject = Type.Object({
  id: Type.String({ description: 'The event’s.' }),
  sequence: Type.Integer(),
  reason: Type.String(),
  created_at: isoTime('When the destination last refused it.'),
  attempts: Type.Integer(),
  replaying: Type.Boolean({ description: 'It is about to be sent again.' }),
})

const deadLetterExample = {
  id: 'evt_01k9z8y7x6w5v4t3s2r1q0p9n8',
  sequence: 42,
  reason: 'Splunk answered 400, code 15: the indexed fields are wrong.',
  created_at: '2026-01-01T00:00:00.000Z',
  attempts: 1,
  replaying: false,
}

export const DeadLetterList = listOf(DeadLetterObject, pageExample(deadLetterExample))

export const Replay = Type.Object(
  {
    ids: Type.Optional(
      Type.Array(idText('An event.', deadLetterExample.id), {
        maxItems: 1000,
        description: 'The events to send again; all of them when left out.',
      }),
    ),
  },
  { additionalProperties: false, examples: [{ ids: [deadLetterExample.id] }] },
)

export const ReplayAnswer = Type.Object({ replayed: Type.Integer() }, { examples: [{ replayed: 1 }] })
