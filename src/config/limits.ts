import Type from 'typebox'
import { entry, section } from './section.ts'

const limit = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, description: `${description} 0 means no limit.` }))

export const Tier = entry(
  {
    rpm: limit('Requests per minute of a key. A project has 1.5 times as many, an organization twice as many.'),
    rpd: limit('Requests per day of a key. A project has 1.5 times as many, an organization twice as many.'),
    tpm: limit('Tokens per minute of a key. A project has 1.5 times as many, an organization twice as many.'),
    tpd: limit('Tokens per day of an organization.'),
    concurrent: Type.Optional(
      entry(
        {
          key: limit('For a key.'),
          project: limit('For a project.'),
          organization: limit('For an organization.'),
        },
        'Concurrent requests.',
      ),
    ),
  },
  'Limits of this tier. They replace the published values.',
)

export const administrationLimit = (requestsPerMinute: number, concurrentRequests: number, description: string) =>
  section(
    {
      requests_per_minute: Type.Integer({
        default: requestsPerMinute,
        minimum: 1,
        description: 'Requests in any 60 seconds.',
      }),
      concurrent_requests: Type.Integer({
        default: concurrentRequests,
        minimum: 1,
        description: 'Concurrent requests.',
      }),
    },
    description,
  )
