import styles from './charts.module.css'

const width = 72
const height = 22

/** The course of a figure, without axes; the figure stands beside it. */
export function Sparkline({ values }: { readonly values: readonly number[] }) {
  if (values.length < 2) return null
  const top = Math.max(...values, Number.MIN_VALUE)
  const points = values.map((value, at) => {
    const x = (at / (values.length - 1)) * width
    const y = height - 1 - (value / top) * (height - 2)
    return `${x.toFixed(1)} ${y.toFixed(1)}`
  })
  const line = `M${points.join('L')}`
  return (
    <svg className={styles.spark} viewBox={`0 0 ${width} ${height}`} width={width} height={height} aria-hidden="true">
      <path className={styles.sparkArea} d={`${line}L${width} ${height}L0 ${height}Z`} />
      <path className={styles.sparkLine} d={line} />
    </svg>
  )
}
