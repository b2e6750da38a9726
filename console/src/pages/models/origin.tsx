import { Badge } from '../../kit/badge.tsx'
import { words } from '../../words/en.ts'
import type { CatalogueModel } from './queries.ts'

const text = words.models.origin

type OriginProps = { readonly entry: Pick<CatalogueModel, 'defined_in' | 'hidden'> }

/** Who manages an entry: the operator in the file or environment, or the organization here. */
export function Origin({ entry: { defined_in: at, hidden } }: OriginProps) {
  if (hidden)
    return (
      <Badge tone="warning" title={text.hiddenHint}>
        {text.hidden}
      </Badge>
    )
  if (at.source === 'organization') return text.organization
  const place = [at.file, at.key].filter((part) => part !== null).join(' ')
  return (
    <Badge tone="none" title={place}>
      {text[at.source]}
    </Badge>
  )
}
