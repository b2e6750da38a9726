import { Icon } from './icon.tsx'
import styles from './chip.module.css'

type ChipProps = {
  readonly name: string
  /** Between the name and the value. A click on it switches it. */
  readonly operator?: { readonly text: string; readonly label: string; readonly onSwitch: () => void }
  readonly value: string
  readonly removeLabel: string
  readonly onRemove: () => void
}

/** A filter that is set, and can be removed. */
export function Chip({ name, operator, value, removeLabel, onRemove }: ChipProps) {
  return (
    <span className={styles.chip}>
      <span className={styles.name}>{name}</span>
      {operator && (
        <button
          type="button"
          className={styles.operator}
          aria-label={operator.label}
          title={operator.label}
          onClick={operator.onSwitch}
        >
          {operator.text}
        </button>
      )}
      <span className={styles.value} title={value}>
        {value}
      </span>
      <button type="button" className={styles.remove} aria-label={removeLabel} title={removeLabel} onClick={onRemove}>
        <Icon name="close" size={12} />
      </button>
    </span>
  )
}
