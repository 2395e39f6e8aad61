/* What text and page say of an ensemble in the same words. Internal. */
#ifndef SR_DESCRIBE_ENSEMBLE_WORDS_H
#define SR_DESCRIBE_ENSEMBLE_WORDS_H

#include <specroute/ensemble.h>
#include <specroute/evaluate.h>

/* The name of a feature, or its number from 1. */
void sr__name_feature(const sr_ensemble_view *view, int64_t j, char *name, size_t size);
/* What a question asks, in words. */
void sr__name_question(const sr_evaluation *e, const sr_question *q, char *text, size_t size);
/* An error and its interval; "not told" where they are not. */
void sr__print_number(double value, char *text, size_t size);
void sr__print_interval(double low, double high, char *text, size_t size);
/* What an evaluation held out, as sr__print_held_out. */
void sr__print_evaluated(const sr_evaluation *e, char *text, size_t size);
/* Maps: how far residuals are alike. Empty elsewhere. */
void sr__print_reach(const sr_evaluation *e, char *text, size_t size);
/* Maps: what was held out, how far away it lay, and the next one of its kind. */
void sr__print_map_line(const sr_evaluation *e, const sr_question *q, char *text, size_t size);
/* What would lower the variance of the margin, in one sentence; empty where it is not known. */
void sr__print_remedy(const sr_evaluation *e, char *text, size_t size);
/* The features with the greatest importance, the greatest first; ties: the lower number. */
int32_t sr__list_important(const sr_evaluation *e, int32_t most, int64_t *list);

#endif
