import Type from 'typebox'
import { entry, section } from './section.ts'

export const Audit = section(
  {
    requests: Type.Boolean({ default: true, description: 'Write an event for each inference request.' }),
    content: Type.Enum(['none', 'redacted', 'full'], {
      default: 'none',
      description: 'Which texts of prompts and answers are kept beside their events, where they can be erased.',
    }),
    retention_days: Type.Integer({
      default: 180,
      minimum: 1,
      maximum: 36_500,
      description: 'How long events are kept.',
    }),
    on_failure: Type.Enum(['refuse', 'continue'], {
      default: 'continue',
      description:
        'What becomes of requests while the log cannot be written: 503 before any model is asked, and nothing is charged; or answered, and their events wait on this node’s disk (with embedded storage, where there is no other disk, they are counted and told of in the log later).',
    }),
  },
  'What is written down about what happens.',
)

export const Exports = section(
  {
    allow_addresses: Type.Array(Type.String(), {
      default: [],
      description:
        'Networks (CIDR) that sinks may reach although they are private. There, plain http and any port are allowed.',
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
        'A sink that has failed for so long, or whose oldest event has waited so long, is told of in the log.',
    }),
    alarm_after_events: Type.Integer({
      default: 1_000_000,
      minimum: 1,
      description: 'The same for so many events that wait.',
    }),
    aws: Type.Optional(
      entry(
        {
          access_key_id: Type.String({ minLength: 1, description: 'Its id.' }),
          secret_access_key: Type.String({
            minLength: 1,
            description: 'Take it from a variable or a file: `${NAME}`, `${file:/path}`.',
          }),
          session_token: Type.Optional(Type.String({ minLength: 1, description: 'For temporary credentials.' })),
        },
        'The identity at AWS that assumes the roles of `s3` sinks. Without it they need access keys.',
      ),
    ),
  },
  'Where the audit log may be sent.',
)
