import { Bones } from '../../kit/state.tsx'
import { chartHeight } from './decisions.tsx'
import styles from './page.module.css'

/** The parts of the page in their places, before anything is loaded. */
export const OverviewBones = () => (
  <div className={styles.page}>
    <Bones height={178} />
    <div className={styles.wide}>
      <Bones height={chartHeight + 64} />
      <Bones height={120} />
    </div>
    <div className={styles.thirds}>
      <Bones height={240} />
      <Bones height={240} />
      <Bones height={240} />
    </div>
  </div>
)
