import Type from 'typebox'
import { section } from './section.ts'

export const Budgets = section(
  {
    tags: Type.Array(Type.String({ pattern: '^[a-z][a-z0-9_-]{0,31}$' }), {
      default: [],
      maxItems: 8,
      uniqueItems: true,
      description:
        'Names of the tags that requests are labelled with, in `X-Policy-Tags` or `metadata`, such as `team`. No other names are read. See [the guide](guide/costs.md).',
    }),
  },
  'What requests cost, and who spends it.',
)
