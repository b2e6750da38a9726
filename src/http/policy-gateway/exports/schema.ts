import Type, { type Static } from 'typebox'
import { flag, integer, text } from '../../described.ts'
import { sinkStates } from '../../../domain/audit/export/cursor.ts'
import { sinkStarts } from '../../../domain/audit/export/export-sink.ts'
import { deliveryOutcomes, sinkTypes } from '../../../domain/audit/export/sink.ts'
import { listOf, listQuery, pageExample } from '../../resources/list.ts'
import { managedBy } from '../../resources/managed-by.ts'
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
const label = Type.String({ maxLength: 200, description: 'Purpose of the sink.', examples: ['Security team'] })
const enabled = Type.Boolean({ description: 'A disabled sink keeps its position in the log.' })
const config = Type.Record(Type.String(), Type.Unknown(), {
  description:
    'The destination. The fields depend on the type, as `createExportSink` describes them. Secrets are masked in responses.',
})

export const exampleConfig = { url: 'https://splunk.example.com:8088', token: '3f2b7c1e-9a55-4b8e-8a0e-3c1f0a6e2f11' }

/** Validates a creation. `documentedCreate` describes it. */
export const NewExport = Type.Object(
  {
    type,
    label: Type.Optional(label),
    enabled: Type.Optional(enabled),
    config,
    start: Type.Optional(
      Type.Enum([...sinkStarts], {
        description: 'The first event to send: `now` (the default) or the oldest `retained` event.',
      }),
    ),
  },
  { additionalProperties: false },
)

export const ChangedExport = Type.Object(
  {
    type: Type.Optional(type),
    label: Type.Optional(label),
    enabled: Type.Optional(enabled),
    config: Type.Optional(config),
  },
  { title: 'ExportSinkUpdate', additionalProperties: false, examples: [{ enabled: false }] },
)

const Health = Type.Object(
  {
    state: Type.Enum([...sinkStates, 'disabled'], {
      description:
        '`retrying` and `throttled` sinks retry automatically; `auth_error` and `config_error` need a change of the configuration. No event is lost in any state.',
    }),
    backlog_events: Type.Integer({ description: 'Events that are not sent yet.' }),
    oldest_unsent_at: orNull(isoTime('Time of the oldest event that is not sent yet.')),
    next_attempt_at: orNull(isoTime('Time of the next attempt after a failure.')),
    dead_letters: Type.Integer({ description: 'Events that the destination has rejected permanently.' }),
    cost_files: orNull(
      Type.Object(
        {
          days: integer('Days whose file is written.'),
          last_day: orNull(Type.String(), 'The last of them, in UTC.'),
          last_day_without_tags: orNull(
            Type.String(),
            'The last day whose file has no tags, because it would have more than 100,000 rows with them.',
          ),
        },
        { title: 'ExportSinkCostFiles', description: 'The files of a sink that sends costs. Null for others.' },
      ),
    ),
  },
  { title: 'ExportSinkHealth', description: 'The state of delivery.' },
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
  health: {
    state: 'healthy',
    backlog_events: 0,
    oldest_unsent_at: null,
    next_attempt_at: null,
    dead_letters: 0,
    cost_files: null,
  },
}

export const ExportObject = Type.Object(
  {
    id: text('The id of the sink.'),
    type: text('The kind of destination.'),
    label,
    enabled,
    config,
    created_at: isoTime('When it was created.'),
    updated_at: isoTime('When it was last changed.'),
    managed_by: managedBy,
    last_success_at: orNull(isoTime('When the destination last accepted events.')),
    last_error_at: orNull(isoTime('When the destination last rejected events or was unreachable.')),
    last_error: orNull(Type.String(), 'Why the last failed attempt failed.'),
    health: Health,
  },
  { title: 'ExportSink', description: 'A destination of audit events.' },
)

export const ExportAnswer = Type.Object(
  { export: ExportObject },
  { title: 'ExportSinkAnswer', examples: [{ export: example }] },
)

export const ExportList = listOf('ExportSinkList', ExportObject, pageExample(example))

export const DeletedExport = Type.Object(
  {
    export: Type.Object(
      { id: text('The sink that was deleted.'), deleted: Type.Literal(true) },
      { description: 'The deletion.' },
    ),
  },
  { title: 'ExportSinkDeleted', examples: [{ export: { id: exampleId, deleted: true } }] },
)

export const TestAnswer = Type.Object(
  {
    test: Type.Object(
      {
        success: flag('Whether the destination accepted the event.'),
        outcome: Type.Enum([...deliveryOutcomes], { description: 'What the sender would do with such an event.' }),
        message: Type.String({ description: 'The response of the destination, or why it was unreachable.' }),
        event_id: Type.String({ description: 'The event that was sent; the audit log contains it as well.' }),
      },
      { description: 'The result of the delivery.' },
    ),
  },
  {
    title: 'ExportSinkTest',
    examples: [
      {
        test: {
          success: true,
          outcome: 'delivered',
          message: 'The destination accepted the event.',
          event_id: 'evt_01k9z8y7x6w5v4t3s2r1q0p9n8',
        },
      },
    ],
  },
)

const DeadLetterObject = Type.Object(
  {
    id: Type.String({ description: 'The id of the event.' }),
    sequence: integer('The position of the event in the audit log.'),
    reason: text('Why the destination rejected it.'),
    created_at: isoTime('When the destination last rejected it.'),
    attempts: integer('How often it was sent.'),
    replaying: Type.Boolean({ description: 'Whether it will be sent again.' }),
  },
  { title: 'DeadLetter' },
)

const deadLetterExample = {
  id: 'evt_01k9z8y7x6w5v4t3s2r1q0p9n8',
  sequence: 42,
  reason: 'Splunk answered 400, code 15: the indexed fields are wrong.',
  created_at: '2026-01-01T00:00:00.000Z',
  attempts: 1,
  replaying: false,
}

export const DeadLetterList = listOf('DeadLetterList', DeadLetterObject, pageExample(deadLetterExample))

export const Replay = Type.Object(
  {
    ids: Type.Optional(
      Type.Array(idText('An event.', deadLetterExample.id), {
        maxItems: 1000,
        description: 'The events to send again. Default: all.',
      }),
    ),
  },
  { title: 'DeadLetterReplayRequest', additionalProperties: false, examples: [{ ids: [deadLetterExample.id] }] },
)

export const ReplayAnswer = Type.Object(
  { replayed: integer('Dead letters that will be sent again.') },
  { title: 'DeadLetterReplay', examples: [{ replayed: 1 }] },
)

export type ExportBody = Static<typeof ExportObject>
export type SinkTestBody = Static<typeof TestAnswer>['test']
export type DeadLetterBody = Static<typeof DeadLetterList>['data'][number]
