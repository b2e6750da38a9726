import Type from 'typebox'
import { entry, section } from './section.ts'

const limit = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, description: `${description} 0 lifts the limit.` }))

export const Tier = entry(
  {
    rpm: limit('Requests a minute of a key; a project has 1.5 times, an organization twice as many.'),
    rpd: limit('Requests a day of a key, likewise.'),
    tpm: limit('Tokens a minute of a key, likewise.'),
    tpd: limit('Tokens a day of an organization.'),
    concurrent: Type.Optional(
      entry(
        {
          key: limit('Of a key.'),
          project: limit('Of a project.'),
          organization: limit('Of an organization.'),
        },
        'Requests at once.',
      ),
    ),
  },
  'What a tier has in place of the published values.',
)

export const administrationLimit = (requestsPerMinute: number, concurrentRequests: number, description: string) =>
  section(
    {
      requests_per_minute: Type.Integer({
        default: requestsPerMinute,
        minimum: 1,
        description: 'Requests begun in any minute.',
      }),
      concurrent_requests: Type.Integer({
        default: concurrentRequests,
        minimum: 1,
        description: 'Requests under way at once.',
      }),
    },
    description,
  )
