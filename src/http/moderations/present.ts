import { isCategory } from '../../domain/moderation/categories.ts'
import type { Classification } from '../../domain/moderation/classifier.ts'
import { moderationCategories, type ModerationCategory } from '../../wire/openai-moderations.ts'

/** A classification in OpenAI's format. Categories that the classifier does not know are not flagged and have no input types. */
export const presentResult = ({ flagged, scores }: Classification) => ({
  flagged: flagged.length > 0,
  categories: each((name) => flagged.some((category) => category === name)),
  category_scores: each((name) => (isCategory(name) ? scores[name] : 0)),
  category_applied_input_types: each((name) => (isCategory(name) ? ['text'] : [])),
})

const each = <Value>(make: (name: ModerationCategory) => Value): Record<string, Value> =>
  Object.fromEntries(moderationCategories.map((name) => [name, make(name)]))
