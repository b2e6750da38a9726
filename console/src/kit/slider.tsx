import type { InputHTMLAttributes } from 'react'
import styles from './slider.module.css'

type SliderProps = Omit<InputHTMLAttributes<HTMLInputElement>, 'type' | 'value' | 'onChange'> & {
  readonly value: number
  readonly onChange: (value: number) => void
}

/** A number on a line. The number itself is shown beside it. */
export const Slider = ({ value, onChange, ...rest }: SliderProps) => (
  <input
    {...rest}
    className={styles.slider}
    type="range"
    value={value}
    onChange={(event) => onChange(Number(event.target.value))}
  />
)
