import Type from 'typebox'
import { Archive } from './archive.ts'
import { entry, section } from './section.ts'

export const Audit = section(
  {
    requests: Type.Boolean({ default: true, description: 'Write an event for each inference request.' }),
    content: Type.Enum(['none', 'redacted', 'full'], {
      default: 'none',
      description: 'Which texts of prompts and responses are stored with their events. They can be erased separately.',
    }),
    replay_sample: Type.Optional(
      entry(
        {
          per_hour: Type.Integer({
            default: 200,
            minimum: 1,
            maximum: 10_000,
            description: 'Most requests of an organization in an hour, chosen at random.',
          }),
          days: Type.Integer({
            default: 14,
            minimum: 1,
            maximum: 90,
            description: 'How long their texts are kept.',
          }),
        },
        'Keeps the texts of a sample of requests for replays alone: without personal data and encrypted. No page of requests and no export shows them. For `content: none`; otherwise the texts of all requests are kept, and no sample is needed.',
      ),
    ),
    retention_days: Type.Integer({
      default: 180,
      minimum: 1,
      maximum: 36_500,
      description: 'Retention period of events, and of the names of end users in the sums of usage.',
    }),
    archive: Type.Optional(Archive),
    on_failure: Type.Enum(['refuse', 'continue'], {
      default: 'continue',
      description:
        'What happens to requests while the audit log cannot be written. `refuse`: 503 before the model is called, and nothing is charged. `continue`: requests are answered, and their events wait on the disk of this node. With embedded storage there is no other disk: the lost events are counted, and the log later reports how many.',
    }),
  },
  'The audit log.',
)

export const Exports = section(
  {
    allow_addresses: Type.Array(Type.String(), {
      default: [],
      description: 'Private networks (CIDR) that sinks may connect to. Plain http and any port are allowed there.',
    }),
    max_backlog_days: Type.Integer({
      default: 14,
      minimum: 0,
      maximum: 3650,
      description: 'How much longer than `audit.retention_days` events are kept for a sink that is down.',
    }),
    alarm_after_hours: Type.Number({
      default: 24,
      exclusiveMinimum: 0,
      description:
        'The audit log gets an event about a sink that has failed for this long, or whose oldest event has waited for this long.',
    }),
    alarm_after_events: Type.Integer({
      default: 1_000_000,
      minimum: 1,
      description: 'The same for a sink with this many waiting events.',
    }),
    aws: Type.Optional(
      entry(
        {
          access_key_id: Type.String({ minLength: 1, description: 'Access key id.' }),
          secret_access_key: Type.String({
            minLength: 1,
            description: 'Secret access key. Take it from a variable or a file: `${NAME}`, `${file:/path}`.',
          }),
          session_token: Type.Optional(
            Type.String({ minLength: 1, description: 'Session token of temporary credentials.' }),
          ),
        },
        'AWS credentials that assume the roles of `s3` sinks. Without them each sink needs access keys.',
      ),
    ),
  },
  'Export of the audit log to sinks.',
)
