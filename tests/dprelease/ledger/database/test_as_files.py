"""What is tried of a ledger of files and does not speak of files, once more of one in a database."""

from __future__ import annotations

import pytest

from tests.dprelease import test_joint_release as joint
from tests.dprelease import test_release as releases
from tests.dprelease.ledger import test_rho as rho

pytestmark = pytest.mark.engines
SAME = (
    releases.test_a_release_is_charged_once_and_given_back_free,
    releases.test_ten_tenths_fit_a_budget_of_one_and_a_unit_more_does_not,
    releases.test_delta_is_charged_too,
    releases.test_what_somebody_else_began_is_no_entry_of_a_certificate,
    releases.test_a_draw_that_spends_more_than_its_charge_is_not_shown,
    releases.test_what_died_is_held_and_then_booked_as_failed,
    releases.test_a_steward_may_say_once_that_the_machine_failed,
    releases.test_while_one_draws_others_read_register_and_wait_their_turn,
    releases.test_rows_that_are_not_registered_are_refused,
    releases.test_rows_of_one_data_set_are_no_version_of_another,
    releases.test_nothing_is_released_for_another_relation_or_n_or_bounds_of_the_data,
    releases.test_where_rows_are_replaced_the_file_has_the_registered_number,
    releases.test_of_each_person_only_the_first_rows_count,
    releases.test_rows_that_do_not_say_whose_they_are_are_left_out,
    releases.test_rows_that_are_gone_are_refused_free_and_not_by_their_files_name,
    rho.test_more_gaussian_releases_fit_than_their_epsilons_would,
    rho.test_a_plan_and_what_died_are_charged_in_rho_and_the_report_says_so,
    joint.test_a_plan_is_one_charge_one_draw_and_one_certificate,
    joint.test_where_one_question_fails_nothing_of_the_others_is_shown,
    joint.test_a_plan_over_budget_or_with_a_question_that_is_not_released_draws_nothing,
    joint.test_persons_are_charged_and_promised_what_their_rows_cost,
)
globals().update({test.__name__: test for test in SAME})
