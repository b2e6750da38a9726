import styles from './segmented.module.css'

type SegmentedProps<Value extends string> = {
  readonly label: string
  readonly options: readonly Value[]
  readonly nameOf: (option: Value) => string
  readonly value: Value
  readonly onChange: (value: Value) => void
}

/** One of a few options, all of them visible. */
export const Segmented = <Value extends string>(props: SegmentedProps<Value>) => (
  <div className={styles.segmented} role="group" aria-label={props.label}>
    {props.options.map((option) => (
      <button key={option} type="button" aria-pressed={option === props.value} onClick={() => props.onChange(option)}>
        {props.nameOf(option)}
      </button>
    ))}
  </div>
)
