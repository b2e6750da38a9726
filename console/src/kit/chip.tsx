import { Icon } from './icon.tsx'
import styles from './chip.module.css'

type ChipProps = {
  readonly name: string
  readonly value: string
  readonly removeLabel: string
  readonly onRemove: () => void
}

/** A filter that is set, and can be removed. */
export function Chip({ name, value, removeLabel, onRemove }: ChipProps) {
  return (
    <span className={styles.chip}>
      <span className={styles.name}>{name}</span>
      <span className={styles.value}>{value}</span>
      <button type="button" aria-label={removeLabel} title={removeLabel} onClick={onRemove}>
        <Icon name="close" size={12} />
      </button>
    </span>
  )
}
