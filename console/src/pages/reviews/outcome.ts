import type { Appeal } from './queries.ts'

/** How the labels say that an appeal is closed; undefined while nobody is sure, or people disagree. */
export function outcomeOf({ agreed, claim }: Pick<Appeal, 'agreed' | 'claim'>): 'overturned' | 'upheld' | undefined {
  if (agreed === null || claim === null) return undefined
  const claimed = claim === 'should_be_denied' ? 'match' : 'no_match'
  return agreed === claimed ? 'overturned' : 'upheld'
}
