import { EmptyState } from '../kit/state.tsx'
import { words } from '../words/en.ts'
import { useMe, type Me } from './session.tsx'

const text = words.common.missingPermission

type MissingProps = {
  /** Any of them would do. */
  readonly needs: readonly Me['permissions'][number][]
}

/** In place of what somebody may not see: the permission that they need, and whom to ask. */
export function MissingPermission({ needs }: MissingProps) {
  const { owners } = useMe()
  return (
    <EmptyState title={text.title(needs.join(text.or))}>
      {owners.length > 0 && <p>{text.owners(owners.join(', '))}</p>}
    </EmptyState>
  )
}
