import styles from './small-heading.module.css'

/** The heading of a text or a group of figures inside a card or a drawer, as quiet as the label of a field. */
export const SmallHeading = ({ children }: { readonly children: string }) => (
  <h3 className={styles.small}>{children}</h3>
)
